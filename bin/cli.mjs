// `dist/cli.js`: refuses a Node that is too old in words, before anything that it could not read, and starts the command.
import { createRequire } from 'node:module';

const nodeMajorNeeded = 24;
if (Number(process.versions.node.split('.')[0]) < nodeMajorNeeded) {
  process.stderr.write(
    `drover: Node ${nodeMajorNeeded} is needed and this is ${process.versions.node}; start bin/drover.mjs, which finds the one that "npm ci" brings, or install Node ${nodeMajorNeeded}.\n`,
  );
  process.exit(3);
}
createRequire(import.meta.url)('./cli-main.cjs');
