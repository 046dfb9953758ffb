// Runs in a panel's frame, instead of VS Code's own webview interface: messages go to the
// surrounding page, and the panel's memory stays in this browser.

interface PanelSubject {
  readonly id: string | null;
  readonly attempt: number | null;
}

const subject = JSON.parse(
  decodeURIComponent(location.hash.slice(1)) || '{"id":null,"attempt":null,"root":""}',
) as PanelSubject;

const keyFor = (named: unknown): string => `${location.pathname} ${JSON.stringify(named)}`;

function read(named: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(keyFor(named)) ?? 'null') ?? undefined;
  } catch {
    // Not Drover's state, or storage is unavailable.
    return undefined;
  }
}

function store(named: unknown, state: unknown): void {
  try {
    sessionStorage.setItem(keyFor(named), JSON.stringify(state));
  } catch {
    // Storage is unavailable or full.
  }
}

const api = {
  subject,
  first: null,
  postMessage: (message: unknown) => parent.postMessage(message, location.origin),
  getState: () => read(subject),
  setState: (state: unknown) => {
    store(subject, state);
    return state;
  },
  reuse: () => {},
  amend: (named: unknown, change: Readonly<Record<string, unknown>>) =>
    store(named, { ...read(named), ...change }),
};

// A message from elsewhere is not meant for the page.
window.addEventListener(
  'message',
  (event) => {
    if (event.source !== parent || event.origin !== location.origin)
      event.stopImmediatePropagation();
  },
  true,
);

Object.assign(globalThis, { acquireVsCodeApi: () => api });
