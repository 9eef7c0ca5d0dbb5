// The participant's page as Python writes it, before a collector that answers as a test says and keeps what it was sent.
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
export const python = process.env.PYTHON ?? path("../../.venv/bin/python");
const HEADERS = { "content-type": "application/json", "cache-control": "no-store", "referrer-policy": "no-referrer", "x-content-type-options": "nosniff" }; // the collector's
const written = new Map();

/** Both pages of a study, open and closed. */
function pagesOf(study) {
  if (!written.has(study)) {
    const env = { ...process.env, PYTHONPATH: path("../../src") };
    written.set(study, JSON.parse(execFileSync(python, [path("study.py"), path(study)], { env, maxBuffer: 2 ** 28 })));
  }
  return written.get(study);
}

/** `answers` are the statuses of the next POSTs, then 200; `seen` is every request, with its headers and body. */
export async function collector({ study = "readers.toml", page = "open", answers = [] } = {}) {
  const pages = pagesOf(study);
  const seen = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      if (method === "POST") response.writeHead(answers.shift() ?? 200, HEADERS).end('{"counted": 3, "known": 0}');
      else if (url === "/") response.writeHead(200, pages[page].headers).end(pages[page].html);
      else response.writeHead(404).end();
    });
  });
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  const posts = () => seen.filter(({ method }) => method === "POST");
  return { origin: `http://localhost:${server.address().port}`, seen, posts, close };
}
