// `node bin/node24.mjs PROGRAM [args]` runs a JavaScript or TypeScript program of the project on
// the Node that the project provides, regardless of the Node or npm that called it. npm 10 creates
// no `node_modules/.bin/node`, because the packages of several platforms provide one.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isWindows, ownTarget } from './system.mjs';

export const nodeMajorNeeded = 24;

/** Returns whether the current Node is new enough. */
export function isNewEnough() {
  return Number(process.versions.node.split('.')[0]) >= nodeMajorNeeded;
}

/** The Node that npm installed for this platform beside the project, or null. */
function bundledNode() {
  const prefix = ownTarget === 'darwin-arm64' ? 'node-bin' : 'node';
  const name = isWindows ? 'node.exe' : 'node';
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `${prefix}-${ownTarget.replace('win32', 'win')}/package.json`,
    );
    const binary = join(dirname(manifest), 'bin', name);
    return existsSync(binary) ? binary : null;
  } catch {
    return null;
  }
}

/**
 * Starts the project's own Node with these arguments, and exits with the same result. `env` is
 * its environment.
 * @param {string} caller
 * @param {readonly string[]} args
 * @param {(node: string) => NodeJS.ProcessEnv} env
 */
export function startOnNode24(caller, args, env = () => process.env) {
  const node = bundledNode() ?? (isNewEnough() ? process.execPath : null);
  if (node === null) {
    process.stderr.write(
      `${caller}: Drover needs Node ${nodeMajorNeeded}, but this is Node ${process.versions.node}; install it again without "--omit=optional" (in a checkout: "npm ci"), which brings the right Node, or install Node ${nodeMajorNeeded}.\n`,
    );
    process.exit(3);
  }
  const child = spawn(node, args, { stdio: 'inherit', env: env(node) });
  // The terminal sends Ctrl-C to the whole group: the child decides how to react, and this process
  // only waits.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)));
}

/** Programs that the child starts by the name `node` use the same Node. */
const withNodeFirst = (node) => ({
  ...process.env,
  PATH: [dirname(node), process.env.PATH ?? ''].join(delimiter),
});

async function main([program, ...args]) {
  if (program === undefined) {
    process.stderr.write('usage: node bin/node24.mjs PROGRAM [arguments]\n');
    process.exit(2);
  }
  const own = bundledNode();
  const isRunning = own === null ? isNewEnough() : realpathSync(own) === process.execPath;
  if (!isRunning) return startOnNode24(program, [program, ...args], withNodeFirst);
  // This saves one process that a signal could miss.
  process.env.PATH = withNodeFirst(process.execPath).PATH;
  process.argv.splice(1, 1);
  process.argv[1] = resolve(program);
  await import(pathToFileURL(process.argv[1]).href);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(process.argv.slice(2));
}
