import { afterEach, expect, test, vi } from "vitest";
import { sendWithBeacon, sendWithFetch } from "../src/send.js";

afterEach(() => vi.unstubAllGlobals());

test("fetch sends the body as it is, outlives the page, and takes no cookie along", async () => {
  const fetched = vi.fn(async (_url: string, _init: RequestInit) => ({ ok: true, status: 200 }));
  vi.stubGlobal("fetch", fetched);
  await sendWithFetch("/collect", '{"v":1}');
  await sendWithFetch("/collect", '{"v":1}');
  expect(fetched.mock.calls[0]).toEqual(fetched.mock.calls[1]);
  expect(fetched.mock.calls[0]).toEqual([
    "/collect",
    {
      method: "POST",
      body: '{"v":1}',
      headers: { "content-type": "application/json" },
      credentials: "omit",
      referrerPolicy: "no-referrer",
      keepalive: true,
    },
  ]);
});

test("the answer is let go, unread: in Chromium its request would count as in flight", async () => {
  const cancel = vi.fn(async () => {});
  for (const ok of [true, false]) {
    vi.stubGlobal("fetch", async () => ({ ok, status: 503, body: { cancel } }));
    await sendWithFetch("/collect", '{"v":1}').catch(() => {});
  }
  expect(cancel).toHaveBeenCalledTimes(2);
});

test("a body above what browsers keep alive is sent without it", async () => {
  const fetched = vi.fn(async (_url: string, _init: RequestInit) => ({ ok: true, status: 200 }));
  vi.stubGlobal("fetch", fetched);
  await sendWithFetch("/collect", "é".repeat(30_001));
  expect(fetched.mock.calls[0]?.[1].keepalive).toBe(false);
});

test("a signal gives up on a request", async () => {
  const fetched = vi.fn(async (_url: string, { signal }: RequestInit) => signal?.throwIfAborted());
  vi.stubGlobal("fetch", fetched);
  await expect(sendWithFetch("/collect", "{}", { signal: AbortSignal.abort(new Error("gave up")) })).rejects.toThrow("gave up");
});

test("a collector that does not take the report is an error", async () => {
  vi.stubGlobal("fetch", async () => ({ ok: false, status: 503 }));
  await expect(sendWithFetch("/collect", "{}")).rejects.toThrow("the collector did not take the report: HTTP 503");
});

test("a beacon has the same body", () => {
  const sendBeacon = vi.fn(() => true);
  vi.stubGlobal("navigator", { sendBeacon });
  expect(sendWithBeacon("/collect", '{"v":1}')).toBe(true);
  expect(sendBeacon.mock.calls).toEqual([["/collect", '{"v":1}']]);
});
