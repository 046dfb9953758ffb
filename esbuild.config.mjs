// Bundles the programs of Drover: one file each, ES modules for Node 24.
import { build } from 'esbuild';
import { existsSync, rmSync } from 'node:fs';

const entryPoints = {
  cli: 'server/cli/main.ts',
  backend: 'server/main/backend-main.ts',
  helper: 'server/main/helper-main.ts',
  'demo-agent': 'server/agents/demo/main.ts',
  demo: 'server/main/demo.ts',
};

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: Object.fromEntries(
    Object.entries(entryPoints).filter(([, file]) => existsSync(file)),
  ),
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  sourcemap: true,
  splitting: true,
  chunkNames: 'chunk-[hash]',
  logLevel: 'warning',
  // Some dependencies are CommonJS and call require() for Node's own modules.
  banner: {
    js: "import { createRequire as droverCreateRequire } from 'node:module'; const require = droverCreateRequire(import.meta.url);",
  },
});
