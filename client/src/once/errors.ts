/** Why no report was handed out. */
export type Reason = "consent" | "refused" | "privacy-control" | "changed" | "budget" | "drawn" | "storage";

/** No report was handed out, and none was kept; `reason` says why, the message in words. */
export class NoReportError extends Error {
  override name = "NoReportError";
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
