// A hostile page in the browser of a person who is let in: it gets in by none of its ways, and by each
// of them once the wall that is meant to stop it is taken away.

import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../e2e/support/eventually.ts';
import { removeFolder } from '../remove-folder.ts';
import { type Browser, launchBrowser, type Page } from '../vscode/host/browser.ts';
import { startWeakened, type Weakening } from './support/weakened-web.ts';

interface Attack {
  readonly wall: Weakening;
  /** On the hostile page; resolves with whether it got in. */
  readonly tries: (hostile: Page, target: string) => Promise<boolean>;
}

const wallIn = (file: string, wall: string, instead: string): Weakening => ({
  file: `web/${file}.ts`,
  wall,
  instead,
});
const header = (name: string): Weakening =>
  wallIn('page-files', `'${name}': 'same-origin',`, `'X-${name}': 'same-origin',`);
const fromPage = wallIn('web-server', 'if (!isFromPage) return refuse(response, 403);', '');
const name = 'rebound.example';

/** The status of the server's answer to a request, also of one that the browser hides from the page. */
async function statusOf(hostile: Page, url: string, act: () => Promise<unknown>): Promise<number> {
  const session = await hostile.context().newCDPSession(hostile);
  await session.send('Network.enable');
  const sent = new Set<string>();
  session.on('Network.requestWillBeSent', ({ request, requestId }) => {
    if (request.url === url) sent.add(requestId);
  });
  const status = new Promise<number>((resolve) => {
    session.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) => {
      if (sent.has(requestId)) resolve(statusCode);
    });
  });
  await act();
  return await status;
}

const attacks: Readonly<Record<string, Attack>> = {
  'a fetch with the cookie of the browser': {
    wall: fromPage,
    tries: async (hostile, target) =>
      (await statusOf(hostile, `${target}/ticket`, () =>
        hostile.evaluate(
          (url) =>
            void fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include' }).catch(
              () => {},
            ),
          `${target}/ticket`,
        ),
      )) === 200,
  },
  'a form that the page sends by itself': {
    wall: fromPage,
    tries: async (hostile, target) =>
      (await statusOf(hostile, `${target}/ticket`, () =>
        hostile.evaluate((url) => {
          const form = document.createElement('form');
          Object.assign(form, { method: 'post', action: url, enctype: 'text/plain' });
          document.body.append(form);
          form.submit();
        }, `${target}/ticket`),
      )) === 200,
  },
  'a WebSocket': {
    wall: wallIn('web-server', 'isOwn(asked) && request.headers.origin === asked;', 'true;'),
    tries: async (hostile, target) =>
      await hostile.evaluate(
        (url) =>
          new Promise<boolean>((resolve) => {
            const socket = new WebSocket(url);
            socket.addEventListener('open', () => resolve(true));
            socket.addEventListener('error', () => resolve(false));
          }),
        `${target.replace('http', 'ws')}/socket`,
      ),
  },
  'the page in a frame, to steal a click': {
    wall: wallIn('page-files', '"frame-ancestors \'self\'",', ''),
    tries: async (hostile, target) => {
      await hostile.evaluate(
        (url) =>
          new Promise<void>((resolve) => {
            const frame = document.createElement('iframe');
            frame.addEventListener('load', () => resolve());
            frame.src = url;
            document.body.append(frame);
          }),
        `${target}/`,
      );
      const inside = hostile.frames().at(-1);
      return (
        (await inside
          ?.locator('drover-desk')
          .count()
          .catch(() => 0)) === 1
      );
    },
  },
  'a window that it opens and keeps a hold of': {
    wall: header('Cross-Origin-Opener-Policy'),
    tries: async (hostile, target) => {
      const [opened] = await Promise.all([
        hostile.context().waitForEvent('page'),
        hostile.evaluate((url) => {
          Object.assign(globalThis, { opened: open(url) });
        }, `${target}/`),
      ]);
      await eventually('its panels load', () => opened.frames().length > 1);
      return await hostile.evaluate(() => {
        const { opened: handle } = globalThis as unknown as { opened: Window };
        return !handle.closed;
      });
    },
  },
  'its scripts on the hostile page': {
    wall: header('Cross-Origin-Resource-Policy'),
    tries: async (hostile, target) =>
      await hostile.evaluate(
        (url) =>
          new Promise<boolean>((resolve) => {
            const script = document.createElement('script');
            script.addEventListener('load', () => resolve(true));
            script.addEventListener('error', () => resolve(false));
            script.src = url;
            document.body.append(script);
          }),
        `${target}/panel-api.js`,
      ),
  },
  'a name that was made to point here': {
    wall: wallIn('web-server', 'if (!isOwn(asked)) return', 'if (isOwn(asked) === null) return'),
    tries: async (hostile, target) => {
      const { port } = new URL(target);
      const answer = await hostile.goto(`http://${name}:${port}/`).catch(() => null);
      return answer?.status() === 200;
    },
  },
};

suite('a hostile page beside the page of drover web', function () {
  this.timeout(60_000);
  let folder = '';
  let browser: Browser;
  let site: Server;

  suiteSetup(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-hostile-')));
    const dist = join(import.meta.dirname, '..', '..', 'dist', 'webview');
    symlinkSync(dist, join(folder, 'webview'));
    browser = await launchBrowser([
      `--host-resolver-rules=MAP ${name} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
    ]);
    site = createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<body>Win a prize</body>');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  });

  suiteTeardown(async () => {
    await browser?.close();
    site?.close();
    removeFolder(folder);
  });

  async function getsIn({ tries }: Attack, weakening: Weakening | null): Promise<boolean> {
    const { web, port } = await startWeakened(folder, weakening);
    const context = await browser.newContext();
    try {
      const own = await context.newPage();
      await own.goto(web.newLink());
      await own.getByRole('link', { name: 'Board' }).waitFor();
      await own.locator('.lost').waitFor({ state: 'detached' });
      const hostile = await context.newPage();
      await hostile.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      return await tries(hostile, `http://127.0.0.1:${port}`);
    } finally {
      await context.close();
      await web.close();
    }
  }

  for (const [title, attack] of Object.entries(attacks)) {
    test(`${title} gets in only without its wall`, async () => {
      assert.equal(await getsIn(attack, null), false, 'with all walls');
      assert.equal(await getsIn(attack, attack.wall), true, 'without this wall');
    });
  }
});
