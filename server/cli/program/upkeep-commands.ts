// The commands around the project: worktrees, checks, the backend.

import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { parseListenAddress, type ListenAddress } from '../../core/settings/listen-address.ts';
import { parseSize } from '../../core/settings/setting-values.ts';
import { calls, define, duration, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/upkeep.ts');

export function defineUpkeepCommands(program: Command, host: ProgramHost): void {
  const worktree = define(program, 'worktree', 'List and prune worktrees', [
    'worktree list --size',
    'worktree prune --dry-run',
  ]);
  worktree.helpCommand(false);
  const list = define(worktree, 'list', 'List worktrees', [
    'worktree list --json',
    'worktree list --size',
  ]);
  list.option('--size', 'Print the space that each one takes, and whether it can be removed');
  list.action(calls(host, list, async () => (await load()).worktreeList));
  const prune = define(worktree, 'prune', 'Remove unused worktrees', ['worktree prune --dry-run']);
  prune
    .option('--dry-run', 'Only print what would be removed')
    .option(
      '-f, --force',
      'Also remove dirty and unmerged worktrees (their work is kept as snapshots)',
    )
    .action(calls(host, prune, async () => (await load()).worktreePrune));

  const old = define(
    program,
    'prune',
    'Remove history of closed epics that is older than [retention] allows',
    ['prune --dry-run', 'prune'],
  );
  old
    .option('--dry-run', 'Only print what would be removed, with sizes')
    .action(calls(host, old, async () => (await load()).pruneProject));

  const doctor = define(
    program,
    'doctor',
    'Check the setup: git, agents, database, disk, backend',
    ['doctor', 'doctor --json', 'doctor --sandbox', 'doctor --forge'],
  );
  doctor
    .option('--remote-commits', "Also check that a fleet's git remote has the plan's commits")
    .option('--forge', "Also check the requirements of pull requests, and the token's permissions")
    .option('--sandbox', 'Also probe the sandbox, and print what it stopped')
    .action(calls(host, doctor, async () => (await load()).doctor));
  defineTrust(program, host);
  defineMcp(program, host);
  defineSqlforge(program, host);
  defineMigrate(program, host);
  defineServer(program, host);
  defineWeb(program, host);
  defineWorkerRuntime(program, host);

  const completion = define(program, 'completion', 'Print a shell completion script', [
    'completion bash > ~/.local/share/bash-completion/completions/drover',
    'completion zsh > ~/.zfunc/_drover',
  ]);
  completion
    .addArgument(new Argument('<shell>', 'Shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: string) => {
      await host.run(completion, async (context) =>
        (await import('../commands/completion.ts')).completionScript(context, program, shell),
      );
    });
}

function defineTrust(program: Command, host: ProgramHost): void {
  const trust = define(
    program,
    'trust',
    'List and accept repository settings that start programs',
    ['trust', 'trust --yes'],
  );
  trust
    .option('--yes', 'Accept without asking')
    .action(calls(host, trust, async () => (await import('../commands/trust.ts')).trust));
}

function defineMcp(program: Command, host: ProgramHost): void {
  const mcp = define(program, 'mcp', 'Serve MCP tools on stdin and stdout', [
    'mcp',
    '-C ~/projects/shop mcp',
  ]);
  mcp.action(calls(host, mcp, async () => (await import('../commands/mcp.ts')).mcp));
}

function defineSqlforge(program: Command, host: ProgramHost): void {
  const sqlforge = define(program, 'sqlforge', 'Apply changes to a SQLForge warehouse', [
    'sqlforge apply dev',
  ]);
  sqlforge.helpCommand(false);
  const apply = define(
    sqlforge,
    'apply [environment]',
    'Show the plan, then apply it after confirmation (not available to agents)',
    ['sqlforge apply dev', 'sqlforge apply dev --confirm dev'],
  );
  apply
    .option('--confirm <environment>', 'Confirm by naming the environment, if Drover cannot ask')
    .action(
      calls(host, apply, async () => (await import('../commands/sqlforge.ts')).sqlforgeApply),
    );
}

function defineMigrate(program: Command, host: ProgramHost): void {
  const migrate = define(
    program,
    'migrate',
    'Copy the project, including its history, to PostgreSQL or back',
    [
      'migrate --to postgresql://drover@db.example:5432/drover',
      'migrate --from   # the database that DBOS_SYSTEM_DATABASE_URL names',
    ],
  );
  migrate
    .addOption(
      new Option('--to [url]', 'Copy from the SQLite file to this database').conflicts('from'),
    )
    .option('--from [url]', 'Copy from this database to the SQLite file')
    .action(async (options: { to?: string | true; from?: string | true }) => {
      const given = options.to ?? options.from;
      if (given === undefined) migrate.error('migrate needs --to or --from');
      const url = typeof given === 'string' ? given : null;
      const direction = options.to === undefined ? 'from' : 'to';
      await host.run(migrate, async (context) =>
        (await load()).migrate(context, { direction, url }),
      );
    });
}

function defineServer(program: Command, host: ProgramHost): void {
  const server = define(program, 'server', 'Run the backend (Drover starts it when needed)', [
    'server --socket /run/user/1000/drover.sock',
    'server stop',
    'server install',
  ]);
  server
    .helpCommand(false)
    .option('--stdio', 'Serve one client on stdin and stdout')
    .addOption(new Option('--socket <path>', 'Listen on this path').conflicts('stdio'))
    .option('--service', 'Run until stopped, even when idle ("server install" starts this)')
    .action(async (options: { stdio?: boolean; socket?: string; service?: boolean }) => {
      const isServed = options.stdio === true || options.service === true;
      if (!isServed && options.socket === undefined) {
        server.error('server needs --stdio, --socket <path>, --service, or a command such as stop');
      }
      await host.run(server, async (context) => (await load()).serve(context, options));
    });
  const stop = define(server, 'stop', 'Stop the backend', ['server stop', 'server stop --force']);
  stop
    .option('-f, --force', 'Stop even while tasks are running (they are released first)')
    .action(calls(host, stop, async () => (await load()).serverStop));
  defineService(server, host);
}

function defineService(server: Command, host: ProgramHost): void {
  const service = async () => await import('../commands/installed-backend.ts');
  const install = define(server, 'install', 'Run the backend as a service of your user', [
    'server install',
  ]);
  install.action(calls(host, install, async () => (await service()).serverInstall));
  const uninstall = define(server, 'uninstall', 'Remove the service', ['server uninstall']);
  uninstall.action(calls(host, uninstall, async () => (await service()).serverUninstall));
  const status = define(server, 'status', 'Show the backend and its service', ['server status']);
  status.action(calls(host, status, async () => (await service()).serverStatus));
}

function defineWeb(program: Command, host: ProgramHost): void {
  const web = define(program, 'web', 'Show the board in a browser, for example on a phone', [
    'web --open',
    'web --listen :8443 --tls-cert cert.pem --tls-key key.pem',
    'web --listen 127.0.0.1:8800 --behind-proxy https://drover.example.com',
  ]);
  web
    .addOption(
      new Option('--listen <address>', 'Address as host:port')
        .argParser(address)
        .default({ host: '127.0.0.1', port: 0 }, '127.0.0.1 and a free port'),
    )
    .option(
      '--tls-cert <file>',
      "Certificate (PEM), needed for addresses other than this machine's",
    )
    .option('--tls-key <file>', 'Its private key (PEM)')
    .option('--behind-proxy <url>', 'Address of the TLS proxy that people connect to')
    .option('--open', 'Open the page in your browser')
    .option('--links', 'Print a new link for each line of standard input; stop when it ends')
    .action(calls(host, web, async () => (await import('../commands/web.ts')).web));
}

function defineWorkerRuntime(program: Command, host: ProgramHost): void {
  const runtime = define(
    program,
    'worker-runtime',
    'Serve remote attempts over HTTP on this host',
    [
      'worker-runtime --listen 127.0.0.1:8800 --workspace /srv/drover/workspace',
      'worker-runtime --listen :8080 --lifetime 4h --json',
    ],
  );
  runtime
    .option(
      '--listen <address>',
      'Address as host:port (default: AGENT_ADDR, else PORT, else :8080)',
      address,
    )
    .option('--workspace <dir>', 'Folder in which jobs run (default: /workspace)')
    .option(
      '--max-upload <size>',
      'Maximum size of an upload, packed and unpacked (default: 500MB)',
      size,
    )
    .option('--lifetime <duration>', 'Stop after this time, even if a job is running', duration)
    .addHelpText(
      'after',
      `
AGENT_TOKEN is the secret that clients send as their bearer token.
SIGTERM or Ctrl-C stops the running job, then the runtime, within 15 s.
docs/worker-runtime.md describes the runtime and how to build an image with it.`,
    )
    .action(calls(host, runtime, async () => (await load()).workerRuntime));
}

function address(text: string): ListenAddress {
  const parsed = parseListenAddress(text);
  if (!parsed.ok) throw new InvalidArgumentError(`${parsed.error}.`);
  return parsed.value;
}

function size(text: string): number {
  const bytes = parseSize(text);
  if (bytes === null) throw new InvalidArgumentError('It must be a size, for example "200MB".');
  return bytes;
}
