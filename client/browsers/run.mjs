// What must hold in real browsers, with the log in browsers.log. Chromium and Firefox are found on the PATH.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answersAccessible } from "./answers.mjs";
import { chromium, firefox } from "./launch.mjs";
import { serve } from "./server.mjs";
import { accessible, forgets, keyboard, loadsNothing } from "./demo.mjs";
import { capped, fullStorage, killed, noStorage, privacyControl, privateMode, reloads, tabs, withoutLocks } from "./once.mjs";
import { laws, speed, vectors } from "./draws.mjs";
import { byKeyboard, cannot, ended, everyDomain, leavesOut, outside, participantAccessible, participates, retries, sendsOften, twoTabs } from "./participant.mjs";
import { readme } from "./readme.mjs";
import { otherOrigin } from "./send.mjs";

const lines = [];
const say = (line) => {
  lines.push(line);
  console.log(line);
};
const parts = [vectors, readme, otherOrigin, laws, speed, tabs, capped, withoutLocks, reloads, killed, privateMode, fullStorage, noStorage, privacyControl, loadsNothing, keyboard, forgets, accessible, participates, twoTabs, retries, sendsOften, ended, everyDomain, outside, leavesOut, byKeyboard, cannot, participantAccessible, answersAccessible];
const only = process.argv.slice(2);
let failures = 0;

const server = await serve();
for (const kind of [chromium, firefox]) {
  const home = mkdtempSync(join(tmpdir(), "bipartite-report-"));
  const version = await kind.version();
  say(`# ${version}`);
  for (const part of parts) {
    if (only.length && !only.includes(part.name)) continue;
    const began = performance.now();
    const place = join(home, part.name);
    const outcome = await part({ kind, server, home: place }).then(
      (found) => `ok: ${found}`,
      (error) => {
        failures += 1;
        return `FAILED: ${error.stack ?? error}`;
      },
    );
    say(`${part.name}: ${outcome} [${((performance.now() - began) / 1000).toFixed(1)} s]`);
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
await server.close();
const kept = new URL("../browsers.log", import.meta.url);
if (!only.length) writeFileSync(kept, `${lines.join("\n")}\n`);
process.exitCode = failures ? 1 : 0;
