// A collector on another origin than the page: what it must answer, and a request that is given up.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { withPage } from "./pages.mjs";

const BODY = '{"v":1}';

/** Sends from the page to a collector that answers so; what the collector saw, and how the page's call ended. */
async function sendTo(page, answer, options) {
  const seen = [];
  const collector = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      seen.push({ method: request.method, headers: request.headers, body });
      answer(request, response);
    });
  });
  await new Promise((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${collector.address().port}/reports`;
  const call = async (to, body, milliseconds) => {
    const { sendWithFetch } = await import("/dist/index.js");
    const given = milliseconds ? { signal: AbortSignal.timeout(milliseconds) } : undefined;
    return sendWithFetch(to, body, given).then(() => "sent", (error) => error.name);
  };
  const ended = await page.evaluate(call, url, BODY, options?.milliseconds ?? 0);
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
  return { ended, seen, methods: seen.map(({ method }) => method) };
}

export function otherOrigin(given) {
  return withPage(given, async (page) => {
    const origin = { "access-control-allow-origin": given.server.origin };
    const allowed = { ...origin, "access-control-allow-headers": "content-type" };
    const sent = await sendTo(page, (_, response) => response.writeHead(204, allowed).end());
    assert.equal(sent.ended, "sent");
    assert.deepEqual(sent.methods, ["OPTIONS", "POST"]);
    const [asked, post] = sent.seen;
    assert.equal(asked.headers["access-control-request-headers"], "content-type");
    assert.equal(post.body, BODY);
    for (const name of ["cookie", "referer"]) assert.equal(post.headers[name], undefined);

    const without = await sendTo(page, (_, response) => response.writeHead(204, origin).end());
    assert.deepEqual([without.ended, without.methods], ["TypeError", ["OPTIONS"]]);
    const unread = await sendTo(page, ({ method }, response) => response.writeHead(204, method === "OPTIONS" ? allowed : {}).end());
    assert.deepEqual([unread.ended, unread.methods], ["TypeError", ["OPTIONS", "POST"]]);

    const late = await sendTo(page, ({ method }, response) => method === "OPTIONS" && response.writeHead(204, allowed).end(), { milliseconds: 500 });
    assert.match(late.ended, /^(Timeout|Abort)Error$/); // the first in Chromium, the second in Firefox
    assert.deepEqual(late.methods, ["OPTIONS", "POST"]);
    return "one OPTIONS, then the report without cookie and referrer; without the allowed header no report leaves the page; without the allowed origin it arrives and the call fails; a signal gives up on a collector that does not answer";
  });
}
