// Icons of VS Code's own font as text in a template. They work in any shadow root, because only the
// font is needed there.

import { css, html, type TemplateResult } from 'lit';

/** Names of the icon font with their characters. */
export const iconCharacters = {
  terminal: '\uea85',
  close: '\uea76',
  file: '\uea7b',
  'new-file': '\uea7f',
  edit: '\uea73',
  notebook: '\uebaf',
  search: '\uea6d',
  globe: '\ueb01',
  vm: '\uea7a',
  checklist: '\ueab3',
  robot: '\uec20',
  'list-ordered': '\ueb16',
  question: '\ueb32',
  'symbol-misc': '\ueb63',
  plug: '\ueb2d',
  tools: '\ueb6d',
  'debug-pause': '\uead1',
  'debug-continue': '\ueacf',
  'circle-slash': '\ueabd',
  'debug-restart': '\uead2',
  person: '\uea67',
  reply: '\uea7d',
  'empty-window': '\ueae4',
  'diff-multiple': '\uec23',
  circle: '\ueabc',
  dash: '\ueacc',
  sync: '\uea77',
  lock: '\uea75',
  watch: '\ueb7c',
  eye: '\uea70',
  'git-merge': '\ueafe',
  'pass-filled': '\uebb3',
  error: '\uea87',
  'chevron-right': '\ueab6',
  'chevron-down': '\ueab4',
  check: '\ueab2',
  copy: '\uebcc',
  loading: '\ueb19',
  warning: '\uea6c',
  info: '\uea74',
  history: '\uea82',
  lightbulb: '\uea61',
  'arrow-down': '\uea9a',
  'arrow-up': '\ueaa1',
  'case-sensitive': '\ueab1',
  send: '\uec0f',
  shield: '\ueb53',
  account: '\ueb99',
  play: '\ueb2c',
  'debug-stop': '\uead7',
  output: '\ueb9d',
  comment: '\uea6b',
  'go-to-file': '\uea94',
  law: '\ueb12',
  'stop-circle': '\ueba5',
  ellipsis: '\uea7c',
  unfold: '\ueb73',
  note: '\ueb26',
  'circle-filled': '\uea71',
  layout: '\uebeb',
  'bell-dot': '\ueb9a',
  add: '\uea60',
  beaker: '\uea79',
  'git-commit': '\ueafc',
  link: '\ueb15',
  tag: '\uea66',
  'file-media': '\ueaea',
  code: '\ueac4',
  trash: '\uea81',
} as const;

export type IconName = keyof typeof iconCharacters;

export const iconStyles = css`
  .icon {
    font: normal normal normal 16px/1 codicon;
    display: inline-block;
    width: 16px;
    height: 16px;
    flex: none;
    text-align: center;
    user-select: none;
    -webkit-font-smoothing: antialiased;
  }
  .icon.spins {
    animation: spin 1.5s steps(30) infinite;
  }
  @keyframes spin {
    to {
      transform: rotate(360deg);
    }
  }
  :host-context(.vscode-reduce-motion) .icon.spins {
    animation: none;
  }
  @media (prefers-reduced-motion: reduce) {
    .icon.spins {
      animation: none;
    }
  }
`;

export function icon(name: IconName, classes = ''): TemplateResult {
  return html`<span class="icon ${classes}" aria-hidden="true">${iconCharacters[name]}</span>`;
}
