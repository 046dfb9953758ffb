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

/** Shorter than the long presses of browsers, which start a drag or select a word. */
const holdMs = 450;
let hold: ReturnType<typeof setTimeout> | undefined;
let isHeld = false;

// On texts and fields the browser's own menu copies and pastes.
window.addEventListener('contextmenu', (event) => {
  const [target] = event.composedPath();
  const contexts = event
    .composedPath()
    .map((part) => (part instanceof HTMLElement ? part.dataset['vscodeContext'] : undefined));
  const context = contexts.find((each) => each !== undefined);
  if (context === undefined || target instanceof HTMLInputElement) return;
  const { taskId, epicId, webviewSection } = JSON.parse(context) as Record<string, string>;
  if (webviewSection === 'attempt') return;
  event.preventDefault();
  // Not all browsers send this event for a long press: the menu is already open.
  if (event instanceof PointerEvent && event.pointerType === 'touch') return;
  isHeld = true;
  parent.postMessage({ type: 'menu', subject: taskId ?? epicId ?? null }, location.origin);
});

window.addEventListener('touchstart', (event) => {
  clearTimeout(hold);
  isHeld = false;
  const [target] = event.composedPath();
  const { clientX, clientY } = event.touches[0] ?? { clientX: 0, clientY: 0 };
  const at = { clientX, clientY, bubbles: true, composed: true, cancelable: true };
  if (event.touches.length > 1) return;
  hold = setTimeout(() => target?.dispatchEvent(new MouseEvent('contextmenu', at)), holdMs);
});
for (const name of ['touchmove', 'touchcancel', 'touchend']) {
  window.addEventListener(name, () => clearTimeout(hold));
}
window.addEventListener(
  'touchend',
  (event) => {
    // A press that opened the menu is no tap.
    if (isHeld) event.preventDefault();
    isHeld = false;
  },
  { passive: false },
);

Object.assign(globalThis, { acquireVsCodeApi: () => api });
