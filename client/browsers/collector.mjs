// The participant's page as Python writes it, before a collector that answers as a test says and keeps what it was sent;
// and a collector that runs as its command runs it.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const python = process.env.PYTHON ?? path("../../.venv/bin/python");
const env = { ...process.env, PYTHONPATH: `${path("../../src")}:${path("../..")}` };
const HEADERS = { "content-type": "application/json", "cache-control": "no-store", "referrer-policy": "no-referrer", "x-content-type-options": "nosniff" }; // the collector's
const written = new Map();

/** Both pages of a study, open and closed. */
function pagesOf(study) {
  if (!written.has(study)) {
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

/** `bipartite collect FILE`: the links that it prints, and Python for what else happens to its database. */
export async function running(file) {
  const server = spawn(python, ["-m", "bipartite", "collect", file, "--port", "0"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(server, "exit");
  const run = (...words) => execFileSync(python, words, { env });
  const close = () => {
    server.kill();
    return ended;
  };
  let said = "";
  for await (const words of server.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    said += words;
    const [origin, link] = said.match(/http:\S+(?=\n)/g) ?? [];
    if (!link) continue;
    server.stdout.resume();
    while (!(await fetch(`${origin}healthz`).then(({ ok }) => ok, () => false))) await new Promise((resolve) => setTimeout(resolve, 100));
    return { origin, link, run, close };
  }
  throw new Error("the collector did not start");
}
