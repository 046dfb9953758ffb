// `dist/cli.js`: rejects a Node that is too old with a message, before it loads code that such a
// Node cannot parse, and starts the command.
import { createRequire } from 'node:module';

const nodeMajorNeeded = 24;
if (Number(process.versions.node.split('.')[0]) < nodeMajorNeeded) {
  process.stderr.write(
    `drover: Drover needs Node ${nodeMajorNeeded}, but this is Node ${process.versions.node}; run bin/drover.mjs, which uses the Node that "npm ci" installs, or install Node ${nodeMajorNeeded}.\n`,
  );
  process.exit(3);
}
createRequire(import.meta.url)('./cli-main.cjs');
