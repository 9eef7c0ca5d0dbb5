"""The paper's own ways of learning, and rivals that lost: what the library tried and does not train with.

=======================  =============================================================================
``sgd.py``               LaplaceSGD: a trusted curator, pure ε; LocalSGD: everybody answers once;
                         the loop; the paper's network
``coordinates.py``       the client's and the collector's half of a locally private gradient
``leaves.py``            the leaves that the paper compares: one noised ratio each
``boosting.py``          PaperBoostingRegressor: DPBoost made sound, with these leaves
``network_training.py``  dense layers on reports of private columns (DNN-DP): what they read, and what trains them
``scattering.py``        Scattering: public features of pictures
=======================  =============================================================================
"""
