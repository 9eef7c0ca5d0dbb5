// Two browsers, each driven by what it speaks itself: Chromium by its own protocol, Firefox by WebDriver BiDi.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import puppeteer from "puppeteer-core";

function onPath(...names) {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? "").split(delimiter)) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // not here
      }
    }
  }
  throw new Error(`none of ${names.join(", ")} is on the PATH`);
}

// Browsers look things up by themselves (updates, how to fill in forms); in tests no name but this machine's is found.
const CHROMES_NAMES = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"];
const FIREFOXS_NAMES = { "network.dns.forceResolve": "127.0.0.1" };

/** One browser: `open` starts it with a profile of its own, or in private mode, or with preferences (Firefox) or flags. */
function browser(name, executables, settings) {
  const open = ({ home, privately = false, preferences = {}, flags = CHROMES_NAMES, pipe = false } = {}) =>
    puppeteer.launch({
      browser: name,
      executablePath: onPath(...executables),
      headless: true,
      pipe,
      ...(home && { userDataDir: home }),
      ...settings(privately, preferences, flags),
    });
  const version = async () => {
    const running = await open();
    const found = await running.version();
    await running.close();
    return found;
  };
  return { name, open, version };
}

export const chromium = browser("chrome", ["chromium", "chromium-browser", "google-chrome"], (privately, _, flags) => ({
  args: [...flags, "--no-sandbox", ...(privately ? ["--incognito"] : [])], // root has no sandbox; everything loaded is ours
}));

export const firefox = browser("firefox", ["firefox-esr", "firefox"], (privately, preferences) => ({
  extraPrefsFirefox: { "browser.privatebrowsing.autostart": privately, ...FIREFOXS_NAMES, ...preferences },
}));
