// What leaves a browser that shows a participant's page, seen from outside: every packet of a visit, by tcpdump, as root.
//
//     node browsers/capture.mjs
//
// It runs in a network namespace of its own, whose loopback takes the packets for all addresses; nobody else answers them.
// Each browser answers the questions of a collector twice, with other answers: all bytes must be the same up to reports and
// keys. Of the browsers' own services those below are switched off. Chromium is driven by a pipe; packets of the port by
// which Firefox is driven are left out.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { running } from "./collector.mjs";
import { chromium, firefox } from "./launch.mjs";
import { withBrowser } from "./pages.mjs";

const STUDY = `
title = "Captured"
ends = 2099-12-31
[questions.number]
ask = "Your number"
domain = { integers = [10000, 10999] }
epsilon = 1
[questions.section]
ask = "Which section do you read first?"
domain = { categories = ["news", "sport", "science"] }
epsilon = 1
`;
const PEOPLE = [["10437", 1], ["10812", 3]];
const LINGER = 10_000; // milliseconds for which the page stays open after its reports have arrived
const ALONE = "ip link set lo up && ip address add 192.0.2.2 dev lo && ip route add default dev lo && ip -6 route add default dev lo";
/** Updates of extensions and components, and how to fill in the form of any page that has an input to type in. */
const CHROMES = ["clients2.google.com", "update.googleapis.com", "content-autofill.googleapis.com"];
process.env.MOZ_REMOTE_SETTINGS_DEVTOOLS = "1"; // else Firefox does not let its settings come from elsewhere
const QUIET = {
  chrome: { pipe: true, flags: [`--host-resolver-rules=${CHROMES.map((name) => `MAP ${name} ~NOTFOUND`).join(",")}`] },
  firefox: { preferences: { "services.settings.server": "data:,#none", "network.dns.forceResolve": "" } },
};

/** What every TCP stream of a capture of loopback carried, and packets of anything else. */
function streams(pcap) {
  const found = new Map();
  const others = [];
  for (let at = 24, end; at < pcap.length; at = end) {
    end = at + 16 + pcap.readUInt32LE(at + 8);
    const packet = pcap.subarray(at + 16, end);
    const ip = packet.subarray(14);
    if (packet.readUInt16BE(12) !== 0x0800 || ip[9] !== 6) {
      others.push(packet.toString("latin1").replaceAll(/[^ -~]+/g, "."));
      continue;
    }
    const tcp = ip.subarray((ip[0] & 15) * 4, ip.readUInt16BE(2));
    const [from, to] = [tcp.readUInt16BE(0), tcp.readUInt16BE(2)];
    const name = `${from} to ${ip.subarray(16, 20).join(".")}:${to}`;
    const stream = found.get(name) ?? { name, from, to, packets: 0, first: 0, parts: new Map() };
    found.set(name, stream);
    stream.packets += 1;
    const seq = tcp.readUInt32BE(4);
    const payload = tcp.subarray((tcp[12] >> 4) * 4);
    if (tcp[13] & 2) stream.first = seq + 1;
    else if (payload.length) stream.parts.set((seq - stream.first) >>> 0, payload.toString("latin1"));
  }
  const all = [...found.values()].map(({ parts, ...stream }) => {
    let text = "";
    for (const [at, part] of [...parts].sort(([one], [other]) => one - other)) {
      assert.ok(at <= text.length, `${stream.name}: a packet is missing`);
      text += part.slice(text.length - at); // what was sent again is there already
    }
    return { ...stream, text };
  });
  return { all, others };
}

/** The messages of HTTP in a stream. */
function messages(text) {
  const found = [];
  while (text) {
    const [head] = text.split("\r\n\r\n", 1);
    const [first, ...lines] = head.split("\r\n");
    const start = head.length + 4;
    const end = start + Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    found.push({ first, lines, body: Buffer.from(text.slice(start, end), "latin1").toString() });
    text = text.slice(end);
  }
  return found;
}

/** One visit: the requests and answers on the wire, checked against what the page says and the server wrote. */
async function visit(kind, home, [number, choice]) {
  const server = await running(join(home, "captured.toml"));
  const written = await (await fetch(server.origin)).text();
  const file = join(home, "packets");
  const tcpdump = spawn("tcpdump", ["-i", "lo", "-s", "0", "-U", "-w", file], { stdio: ["ignore", "ignore", "pipe"] });
  try {
    await once(tcpdump.stderr, "data"); // it listens
    let driven;
    const shown = await withBrowser({ kind, ...QUIET[kind.name] }, async (browser) => {
      driven = Number(browser.wsEndpoint().match(/:(\d+)/)?.[1]);
      const page = await browser.newPage();
      await page.goto(server.origin);
      await page.waitForSelector("input[type=number]", { visible: true });
      await page.type("input[type=number]", number);
      await page.click(`.choice:nth-of-type(${choice}) input`);
      await page.click("#agree");
      await page.waitForFunction(() => document.querySelector("#sending").textContent.includes("have arrived"));
      await new Promise((resolve) => setTimeout(resolve, LINGER));
      return page.$eval("#bytes", ({ textContent }) => textContent);
    });
    tcpdump.kill("SIGINT");
    await once(tcpdump, "exit");
    const { all, others } = streams(readFileSync(file));
    const port = Number(new URL(server.origin).port);
    const ours = all.filter(({ from, to }) => from !== driven && to !== driven);
    const strays = ours.filter(({ from, to }) => from !== port && to !== port).map(({ name }) => name);
    assert.deepEqual([...others, ...strays], []);
    const sent = ours.filter(({ to }) => to === port).flatMap(({ text }) => messages(text));
    const answered = ours.filter(({ from }) => from === port).flatMap(({ text }) => messages(text));
    assert.deepEqual(sent.map(({ first, body }) => [first, body]), [["GET / HTTP/1.1", ""], ["POST /reports HTTP/1.1", shown]]);
    for (const { lines } of sent) assert.ok(!lines.some((line) => /^(cookie|referer):/i.test(line)), lines);
    assert.deepEqual(answered.map(({ first, body }) => [first, body]), [["HTTP/1.1 200 OK", written], ["HTTP/1.1 200 OK", '{"counted":2,"known":0}']]);
    const alike = JSON.stringify([sent, answered])
      .replaceAll(`127.0.0.1:${port}`, "HOST")
      .replaceAll(/\\"report\\":(-?\d+|\\"\w+\\"),\\"key\\":\\"[0-9a-f]{32}\\"/g, "REPORT")
      .replace(/(?<=Content-Length: )\d+/, "LENGTH");
    assert.ok(!alike.includes(number));
    const packets = ours.reduce((sum, each) => sum + each.packets, 0);
    return { alike, packets, told: `${written.length} characters of page, ${shown.length} of envelopes` };
  } finally {
    tcpdump.kill("SIGKILL");
    await server.close();
  }
}

async function main() {
  for (const kind of [chromium, firefox]) {
    const visits = [];
    for (const person of PEOPLE) {
      const home = mkdtempSync(join(tmpdir(), "bipartite-capture-"));
      writeFileSync(join(home, "captured.toml"), STUDY);
      visits.push(await visit(kind, home, person).finally(() => rmSync(home, { recursive: true })));
    }
    assert.equal(visits[0].alike, visits[1].alike);
    console.log(`${await kind.version()}: GET /, POST /reports and their answers in ${visits.map(({ packets }) => packets).join(" and ")} packets, nothing else (${visits[0].told}); the same for both people`);
  }
}

if (process.argv[2] === "alone") await main();
else process.exitCode = spawnSync("unshare", ["--net", "sh", "-c", `${ALONE} && exec node "$0" alone`, fileURLToPath(import.meta.url)], { stdio: "inherit" }).status ?? 1;
