// The demo's small repository and its plan: an epic of eight tasks with a diamond and a chain.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface DemoTask {
  readonly id: string;
  readonly title: string;
  readonly priority: string;
  readonly blockedBy: readonly string[];
  readonly what: string;
  readonly directives: readonly string[];
}

const write = (path: string, text: string): string => `demo: write ${path} ${text}`;

/**
 * A diamond (1 → 2, 3 → 4) and a chain (4 → 5 → 6), plus two other tasks. Task 7 needs two
 * attempts.
 */
const tasks: readonly DemoTask[] = [
  {
    id: 'SHOP-1',
    title: 'Add a Money type',
    priority: 'critical',
    blockedBy: [],
    what: 'Amounts are minor units with a currency code.',
    directives: [
      'demo: say Reading the repository',
      'demo: sleep 400',
      write('src/money.js', 'export const money = (minor, code) => ({ minor, code });'),
    ],
  },
  {
    id: 'SHOP-2',
    title: 'Parse amounts from text',
    priority: 'high',
    blockedBy: ['SHOP-1'],
    what: 'Accept "12.50 EUR".',
    directives: [
      'demo: sleep 700',
      write(
        'src/parse.js',
        "export const parse = (text) => { const [n, code] = text.split(' '); return { minor: Math.round(Number(n) * 100), code }; };",
      ),
    ],
  },
  {
    id: 'SHOP-3',
    title: 'Print amounts for people',
    priority: 'high',
    blockedBy: ['SHOP-1'],
    what: 'Two decimals and the code.',
    directives: [
      'demo: sleep 900',
      write(
        'src/format.js',
        'export const format = (m) => `${(m.minor / 100).toFixed(2)} ${m.code}`;',
      ),
    ],
  },
  {
    id: 'SHOP-4',
    title: 'Check that printing and parsing agree',
    priority: 'normal',
    blockedBy: ['SHOP-2', 'SHOP-3'],
    what: 'parse(format(x)) equals x.',
    directives: [
      'demo: sleep 500',
      write(
        'test/round-trip.js',
        "import { parse } from '../src/parse.js'; import { format } from '../src/format.js'; if (format(parse('12.50 EUR')) !== '12.50 EUR') process.exit(1);",
      ),
    ],
  },
  {
    id: 'SHOP-5',
    title: 'Add a shopping cart',
    priority: 'normal',
    blockedBy: ['SHOP-4'],
    what: 'A list of amounts and their total.',
    directives: [
      'demo: sleep 600',
      write(
        'src/cart.js',
        'export const total = (items) => items.reduce((sum, item) => sum + item.minor, 0);',
      ),
    ],
  },
  {
    id: 'SHOP-6',
    title: 'Print the receipt',
    priority: 'normal',
    blockedBy: ['SHOP-5'],
    what: 'Total of the cart, printed.',
    directives: [
      'demo: sleep 500',
      write(
        'src/receipt.js',
        "import { total } from './cart.js'; import { format } from './format.js'; export const receipt = (items, code) => format({ minor: total(items), code });",
      ),
    ],
  },
  {
    id: 'SHOP-7',
    title: 'Describe the shop in the README',
    priority: 'low',
    blockedBy: [],
    what: 'One paragraph. (Its agent fails once, to show a retry.)',
    directives: ['demo: sleep 300', 'demo: fail 1', write('README.md', '# A small shop')],
  },
  {
    id: 'SHOP-8',
    title: 'Add a changelog',
    priority: 'low',
    blockedBy: [],
    what: 'What is new in this epic.',
    directives: [
      'demo: sleep 800',
      write('CHANGELOG.md', '## New: money, parsing, printing, cart, receipt'),
    ],
  },
];

/** The demo agent needs no model and no account. */
const sampleSettings = `# The demo agent does what the task descriptions say, without a model.
max_workers = 4

[agent]
kind = "demo"

[gate]
command = "sh test/run.sh"
`;

/** The gate: the shop's own tests, if the machine has Node to run them. */
const sampleTests = `command -v node > /dev/null || exit 0
for file in test/*.js; do
  [ ! -e "$file" ] || node "$file" || exit 1
done
`;

/** Creates the sample in an empty folder: its repository, and a file with its plan beside it. */
export function makeSample(folder: string): { readonly root: string; readonly planFile: string } {
  const root = join(folder, 'shop');
  makeRepository(root);
  writeFileSync(join(root, '.drover.toml'), sampleSettings);
  mkdirSync(join(root, 'test'));
  writeFileSync(join(root, 'test', 'run.sh'), sampleTests);
  git(root, ['add', '-A']);
  git(root, ['commit', '-q', '-m', 'Let the demo agent work on the shop']);
  const planFile = join(folder, 'shop.jsonl');
  writeFileSync(planFile, planText(true));
  return { root, planFile };
}

export function makeRepository(repo: string): void {
  mkdirSync(join(repo, 'src'), { recursive: true });
  execFileSync('git', ['init', '-q', '-b', 'main', repo]);
  git(repo, ['config', 'user.name', 'Demo']);
  git(repo, ['config', 'user.email', 'demo@localhost']);
  writeFileSync(
    join(repo, 'package.json'),
    '{ "name": "shop", "private": true, "type": "module" }\n',
  );
  writeFileSync(join(repo, 'src', 'index.js'), '// The shop begins here.\n');
  git(repo, ['add', '-A']);
  git(repo, ['commit', '-q', '-m', 'Begin the shop']);
}

/** `withDirectives`: adds the demo agent's actions. */
export function planText(withDirectives: boolean): string {
  const epic = {
    id: 'SHOP',
    type: 'epic',
    title: 'A small shop',
    description: 'Money, cart and receipt.',
  };
  const stories = tasks.map((task) => ({
    id: task.id,
    type: 'story',
    epic_id: 'SHOP',
    title: task.title,
    priority: task.priority,
    blocked_by: task.blockedBy,
    description: [task.what, ...(withDirectives ? task.directives : [])].join('\n'),
  }));
  return `${[epic, ...stories].map((record) => JSON.stringify(record)).join('\n')}\n`;
}

export function git(repo: string, args: readonly string[]): string {
  return execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8' });
}
