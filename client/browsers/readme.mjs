// The eight lines of README, pasted into a page.
import assert from "node:assert/strict";
import { withBrowser } from "./pages.mjs";

export function readme(given) {
  return withBrowser({ kind: given.kind }, async (running) => {
    const page = await running.newPage();
    const asked = [];
    page.on("dialog", async (dialog) => {
      asked.push(dialog.message());
      await dialog.accept(dialog.type() === "prompt" ? "40" : undefined);
    });
    given.server.handed.delete("readme");
    for (let visit = 0; visit < 2; visit += 1) {
      await page.goto(`${given.server.origin}/readme`);
      while ((given.server.handed.get("readme") ?? []).length <= visit) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const [first, second] = given.server.handed.get("readme");
    assert.equal(first, second);
    const { report } = JSON.parse(first);
    assert.ok(Number.isInteger(report) && report >= 9 && report <= 99);
    assert.match(asked[0], /^May we have a report of your age\? .*at most 2\.72 times as likely/);
    return `its ${given.server.readmeLines} lines ask, draw and send; at the second visit the same bytes`;
  });
}
