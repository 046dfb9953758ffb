// `npm pack` runs this first. It builds the `drover` command in `lib/` as npm ships it, with its
// licenses and bill of materials. It does not change `dist/`, which a running Drover may use.

import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { writeSupply } from './supply.mjs';

const root = resolve(import.meta.dirname, '..');
const lib = join(root, 'lib');
const config = join(root, 'esbuild.config.mjs');
const options = ['--production', '--command', `--outdir=${lib}`];
execFileSync(process.execPath, [config, ...options], { cwd: root, stdio: 'inherit' });
const count = writeSupply(root, lib);
process.stderr.write(`Notices and bill of materials of ${count} bundled packages.\n`);
