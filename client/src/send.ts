const KEEPALIVE_BYTES = 60_000; // browsers allow 64 KiB in flight, all requests together

/**
 * Send the body of a kept report; the page may close meanwhile. No cookie and no referrer goes with it. A retry sends
 * the same bytes, and its key tells the collector that it is the same report. Throws where the collector did not take it,
 * and where `signal` gives up on it: the report may have arrived all the same.
 */
export async function sendWithFetch(url: string, body: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
  const answer = await fetch(url, {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
    credentials: "omit",
    referrerPolicy: "no-referrer",
    keepalive: new TextEncoder().encode(body).length <= KEEPALIVE_BYTES,
    ...(signal && { signal }),
  });
  void answer.body?.cancel(); // in Chromium an answer that nobody reads keeps its request in flight
  if (!answer.ok) throw new Error(`the collector did not take the report: HTTP ${answer.status}`);
}

/**
 * Hand the same body to the browser, which sends it when it can, as text/plain; false where it did not take it. Browsers
 * send **cookies** with a beacon, and nobody learns whether it arrived: prefer `sendWithFetch`.
 */
export function sendWithBeacon(url: string, body: string): boolean {
  return navigator.sendBeacon(url, body);
}
