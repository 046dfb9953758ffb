// The page around a webview's script: a strict content security policy, the icon font, and an empty
// body that the script fills. It loads no style sheet, because scripts would wait for it. Pure.

export interface PageOptions {
  readonly title: string;
  readonly nonce: string;
  /** The name of VS Code's own resource server in a policy. */
  readonly cspSource: string;
  readonly script: string;
  readonly iconFont: string;
  /**
   * Different for each page, because VS Code shows the same page again when a hidden webview is
   * shown again.
   */
  readonly id: string;
  /** The subject of the webview, which is restored with the webview's state after a reload. */
  readonly subject: unknown;
  /** Drawn before the extension answers (`FirstState`). If null, nothing is drawn. */
  readonly first: unknown;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? '');
}

/** Text that can end neither the double quotes of a style sheet in the page nor the style sheet. */
function cssText(text: string): string {
  return text.replace(/[\\"<>\n\r\f]/g, (each) => `\\${each.charCodeAt(0).toString(16)} `);
}

/** JSON that cannot end the surrounding script. */
function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

export function policy(cspSource: string, nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource} 'nonce-${nonce}'`,
    `font-src ${cspSource}`,
    // Drover's own script creates blobs from the extension's bytes, and no text can name one.
    `img-src ${cspSource} blob:`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/**
 * The page stores the component's state and the subject together in VS Code's state of the webview.
 * After a reload, VS Code passes it to the serializer, which then knows the panel's subject. The
 * window's own memory has it too, for a panel that is opened again after it was closed or lost with
 * its extension host.
 */
const keepSubject = `
const api = acquireVsCodeApi();
const known = api.getState() ?? null;
// The panel was reused for another subject before it was hidden.
if (known?.id === id) subject = known.subject;
const place = (of) => document.title + ' ' + JSON.stringify(of);
const read = (of) => {
  try {
    return JSON.parse(sessionStorage.getItem(place(of))) ?? undefined;
  } catch {
    return undefined; // no storage here, or nothing of ours in it
  }
};
// A panel that got another page still has the state of its previous subject.
const kept = JSON.stringify(known?.subject) === JSON.stringify(subject) ? known : null;
let mine = kept === null ? read(subject) : kept.component;
const store = (of, state) => {
  try {
    sessionStorage.setItem(place(of), JSON.stringify(state));
  } catch {
    // Storage is unavailable or full.
  }
};
const keep = () => {
  api.setState({ id, subject, component: mine });
  store(subject, mine);
};
keep();
const shared = {
  subject,
  // A page that is shown again has stored a state, and its embedded first state is outdated.
  first: kept === null ? first : null,
  postMessage: (message) => api.postMessage(message),
  getState: () => mine,
  setState: (state) => { mine = state; keep(); return state; },
  reuse: (next) => {
    const isAnother = JSON.stringify(subject) !== JSON.stringify(next.subject);
    shared.subject = subject = next.subject;
    shared.first = next.first;
    if (isAnother) mine = read(subject);
    keep();
  },
  amend: (of, change) => {
    const isShown = JSON.stringify(of) === JSON.stringify(subject);
    if (!isShown) return store(of, { ...read(of), ...change });
    mine = { ...mine, ...change };
    keep();
  },
};
globalThis.acquireVsCodeApi = () => shared;
`;

/**
 * VS Code searches for `data-vscode-context` upward from the target of a right click, but does not
 * see into components' shadow trees. This first copies the values from there to the body. Inner
 * values take precedence over outer ones.
 */
const carryContext = `
const baseContext = document.body.dataset.vscodeContext;
window.addEventListener('contextmenu', (event) => {
  let context = JSON.parse(baseContext);
  for (const part of event.composedPath().reverse()) {
    const own = part instanceof HTMLElement && part !== document.body
      ? part.dataset.vscodeContext
      : undefined;
    if (own === undefined) continue;
    try {
      context = { ...context, ...JSON.parse(own) };
    } catch {
      // It is not JSON, so VS Code ignores it as well.
    }
  }
  document.body.dataset.vscodeContext = JSON.stringify(context);
}, true);
`;

export function page(options: PageOptions): string {
  const { nonce, cspSource } = options;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy(cspSource, nonce))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(options.title)}</title>
<style nonce="${escaped(nonce)}">
@font-face { font-family: codicon; font-display: block; src: url("${cssText(options.iconFont)}") format("truetype"); }
html, body { height: 100%; margin: 0; padding: 0; overflow: hidden; }
body > :not(script) { display: block; height: 100%; }
</style>
</head>
<body data-vscode-context="{&quot;preventDefaultContextMenuItems&quot;:true}">
<script nonce="${escaped(nonce)}">const id = ${scriptJson(options.id)}; let subject = ${scriptJson(options.subject)}; const first = ${scriptJson(options.first)};${keepSubject}${carryContext}</script>
<script type="module" nonce="${escaped(nonce)}" src="${escaped(options.script)}"></script>
</body>
</html>
`;
}

/**
 * Parses the state that VS Code hands to a serializer: the subject that `page` stored, or null.
 */
export function parseSubject(state: unknown): unknown {
  return typeof state === 'object' && state !== null && 'subject' in state ? state.subject : null;
}
