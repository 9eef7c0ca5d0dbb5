// A page of the server in a browser, closed again whatever happens.

/** Start a browser, do some work, and end it. */
export async function withBrowser({ kind, ...options }, work) {
  const running = await kind.open(options);
  try {
    return await work(running);
  } finally {
    await running.close();
  }
}

export async function openPage(running, { server }, path = "/page") {
  const page = await running.newPage();
  await page.goto(`${server.origin}${path}`);
  return page;
}

/** The test page in a browser of its own. */
export function withPage(given, work) {
  return withBrowser({ kind: given.kind }, async (running) => work(await openPage(running, given)));
}
