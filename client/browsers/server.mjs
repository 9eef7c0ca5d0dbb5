// Pages of one origin on this machine, and what they hand out.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { build } from "esbuild";

/** Serves the test page and the demo, and keeps every report that a page handed to it, by question. */
export async function serve() {
  const { outputFiles } = await build({
    entryPoints: [new URL("page.ts", import.meta.url).pathname],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
  });
  const pages = {
    "/page": ["text/html", "<!doctype html><html lang=en><meta charset=utf-8><title>tests</title><script src=/page.js></script>"],
    "/page.js": ["text/javascript", outputFiles[0].text],
    "/demo": ["text/html", readFileSync(new URL("../../docs/_static/try.html", import.meta.url), "utf8")],
  };
  const readme = /```js\n(.*?)```/s.exec(readFileSync(new URL("../README.md", import.meta.url), "utf8"))[1];
  const map = { imports: { "bipartite-report": "/dist/index.js" } };
  pages["/readme"] = [
    "text/html",
    `<!doctype html><script type=importmap>${JSON.stringify(map)}</script><script type=module>${readme}</script>`,
  ];
  const handed = new Map();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    if (request.method === "POST") {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", () => {
        const question = searchParams.get("question") ?? "readme";
        handed.set(question, [...(handed.get(question) ?? []), Buffer.concat(chunks).toString()]);
        response.writeHead(204).end();
      });
      return;
    }
    const [type, content] = pages[pathname] ?? built(pathname);
    if (content) response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(content);
    else response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  const origin = `http://localhost:${server.address().port}`;
  const readmeLines = readme.trim().split("\n").length;
  return { origin, handed, readmeLines, close: () => new Promise((resolve) => server.close(resolve)) };
}

/** A module of the package as it was built. */
function built(pathname) {
  const name = /^\/dist\/[\w./-]+\.js$/.test(pathname) && !pathname.includes("..");
  return name ? ["text/javascript", readFileSync(new URL(`..${pathname}`, import.meta.url), "utf8")] : [];
}
