// `npm run bench:vscode`: measures the extension in the real VS Code and prints the figures;
// requires an idle machine. The measuring code is beside the stories, whose parts it uses.

import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
const files = ['extension', 'history'].map((name) =>
  join(root, `test/vscode/bench/${name}.bench.ts`),
);
const args = ['--ui', 'tdd', '--timeout', '600000', '--exit', ...files, ...process.argv.slice(2)];
const child = spawn(process.execPath, [mocha, ...args], { cwd: root, stdio: 'inherit' });
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
