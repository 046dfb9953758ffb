#!/usr/bin/env node
// Starts the `drover` command on a Node that is new enough: this one, or the one the project brings.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const nodeMajorNeeded = 24;
const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
if (!existsSync(cli)) {
  process.stderr.write(
    'drover: dist/cli.js is missing; run "npm run build" in the checkout first.\n',
  );
  process.exit(3);
}

/** The Node that npm installed beside the project for this platform, or null. */
function bundledNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `${prefix}-${platform}-${process.arch}/package.json`,
    );
    const binary = join(
      dirname(manifest),
      'bin',
      process.platform === 'win32' ? 'node.exe' : 'node',
    );
    return existsSync(binary) ? binary : null;
  } catch {
    return null;
  }
}

if (Number(process.versions.node.split('.')[0]) >= nodeMajorNeeded) {
  await import(pathToFileURL(cli).href);
} else {
  const node = bundledNode();
  if (node === null) {
    process.stderr.write(
      `drover: Node ${nodeMajorNeeded} is needed and this is ${process.versions.node}; run "npm ci" in the checkout (it brings its own Node), or install Node ${nodeMajorNeeded}.\n`,
    );
    process.exit(3);
  }
  const child = spawn(node, [cli, ...process.argv.slice(2)], { stdio: 'inherit' });
  // The terminal sends Ctrl-C to the whole group: the child decides what it means, this process only waits.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
}
