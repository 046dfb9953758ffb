// Lets the browser install the page, and leads from a notification to its question. It caches
// nothing: without its server, the page says so.

/** This script is compiled with the types of a page. */
interface Click extends Event {
  readonly notification: Notification & { readonly data: { readonly hash: string } };
  waitUntil(end: Promise<unknown>): void;
}

interface OpenPage {
  focus(): Promise<OpenPage>;
  postMessage(message: unknown): void;
}

interface WorkerScope {
  readonly clients: {
    matchAll(options: { type: 'window' }): Promise<readonly OpenPage[]>;
    openWindow(url: string): Promise<unknown>;
  };
}

const scope = globalThis as unknown as WorkerScope;

addEventListener('fetch', () => {});
addEventListener('notificationclick', (event) => {
  const click = event as Click;
  click.notification.close();
  click.waitUntil(lead(click.notification.data.hash));
});

async function lead(hash: string): Promise<void> {
  const [page] = await scope.clients.matchAll({ type: 'window' });
  if (page === undefined) await scope.clients.openWindow(`./${hash}`);
  else (await page.focus()).postMessage({ hash });
}
