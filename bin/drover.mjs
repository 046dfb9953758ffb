#!/usr/bin/env node
// Starts the `drover` command on a Node that is new enough: the current one, or the one that the
// project provides.
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isNewEnough, startOnNode24 } from './node24.mjs';

/** A checkout builds `dist`; the npm package contains `lib`. */
const cli = ['dist', 'lib']
  .map((folder) => fileURLToPath(new URL(`../${folder}/cli.js`, import.meta.url)))
  .find((path) => existsSync(path));
if (cli === undefined) {
  process.stderr.write(
    'drover: dist/cli.js is missing. Run "npm run build" in the checkout first.\n',
  );
  process.exit(3);
}
if (isNewEnough()) await import(pathToFileURL(cli).href);
else startOnNode24('drover', [cli, ...process.argv.slice(2)]);
