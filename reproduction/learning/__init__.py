"""The paper's own ways of learning, and rivals that lost: what the library tried and does not train with.

=======================  =============================================================================
``coordinates.py``       the client's and the collector's half of a locally private gradient
``local.py``             LocalSGD: everybody answers once; PrivateQuantile, a clipping bound from people
``laplace.py``           LaplaceSGD: a trusted curator, pure ε
``loop.py``              the loop of both
``leaves.py``            the leaves that the paper compares: one noised ratio each
``boosting.py``          PaperBoostingRegressor: DPBoost made sound, with these leaves
``network.py``           PrivateNetwork: dense layers on reports of private columns (DNN-DP)
``network_training.py``  what trains them, with losses corrected for randomised labels
``inputs.py``            what they read
``pictures.py``          the paper's network for pictures
``scattering.py``        Scattering: public features of pictures
=======================  =============================================================================
"""
