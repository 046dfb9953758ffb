// The page of refusals: the meaning of each kind. A kind without a meaning does not compile.

import { failureKinds, type FailureKind, type RefusalKind } from '../../server/core/failure.ts';

type OwnKind = Exclude<RefusalKind, FailureKind>;

const meanings: { readonly [K in OwnKind]: string } = {
  bad_request: 'A parameter is missing, too long, out of bounds, or empty',
  bad_value: 'A field has an invalid value',
  bad_title: 'The title is empty, too long, or starts with the id of a sub-task',
  bad_choice: 'The answer is not one of the choices of the question',
  bad_configuration: 'A setting, its file, a flag or a variable cannot be used',
  bad_import: 'The file to import has errors; none of it was added',
  bad_plan: 'The model returned no usable plan',
  bad_land: '`--land epic` and `--land review` need an epic',
  bad_target: 'The target is not a valid branch name, or is a branch that Drover uses',
  bad_address: 'The address to listen on cannot be used',
  bad_state: 'The current state does not allow it; the message names the state and the remedy',
  too_long: 'An agent sent a text over the limit',
  too_many: 'An agent exceeded a limit of its requests, or the project has too many images',
  depth: 'Sub-tasks can be at most two levels deep',
  cycle:
    'The task would wait for itself, or an epic that lands as a whole waits for one that waits for it',
  file: 'A file cannot be read or written, or has the wrong kind',
  id_taken: 'A sub-task with that number already exists',
  needs_answer: 'A question needs a terminal, or `--yes`',
  not_confirmed: 'The confirmation did not match',
  declined: 'The answer was no',
  unknown_id: 'No task, epic, run, question, attempt or log has that id',
  unknown_branch: 'No branch has that name',
  unknown_ref: 'No commit has that name',
  not_found: 'The folder contains no SQLForge project',
  no_attempt: 'The program was not started by a running attempt',
  no_change: 'There is no commit to show',
  no_commit: 'The repository has no commit',
  no_fleet: 'No fleet database is configured',
  no_project: 'The folder is not in a Drover project',
  no_prompt: 'No agent has started on the task',
  no_provisioner: 'No provisioner of remote workers is configured',
  no_token: 'The worker runtime has no token',
  no_worktree: 'The task has no worktree',
  not_a_repository: 'The folder is not in a git repository',
  output_gone: 'The log is no longer kept',
  epic_open: 'The epic has open tasks',
  run_differs: 'The active run has another target, gate or landing mode',
  elsewhere: 'Another machine of the fleet has the worktree',
  reset: 'None of the tasks could be reset',
  not_undone: 'The undo did not land',
  unaccepted: 'The project names a program or host that no person has accepted here',
  not_destroyed: 'The remote worker was not destroyed',
  slow: 'The change is recorded, but was not completed in time',
  attempt_over: 'The attempt of the requesting agent has ended',
  not_yours: 'The agent may not see this task',
  not_for_agents: 'The request is not for agents',
  branch_in_the_way: 'A branch conflicts with the branches that Drover creates',
  git: 'Git refused; the message quotes it',
  detached_head: 'No branch is checked out, and no target is given',
  locked: 'Another program holds a git lock',
  policy: 'The policy of this machine leaves it to others, or cannot be read',
  stale: 'A ref moved at the same time',
  unfilled: 'The program of a git filter, or the remote of a partial clone, is missing',
  foreign: 'The folder belongs to something else',
  refused:
    'The shared remote refused the push, or the backend of another version sent an unknown kind',
  failed: 'Git failed for another reason',
  backend: 'The backend is not running, or did not start',
  already_running: 'A backend of the project or the fleet is running',
  worker_running: 'A worker is running on this machine',
  busy: 'Too many requests or operations at once; the message names what to wait for',
  closed: 'The connection is closed',
  greeting: 'The first request of a connection must be `hello`, sent once',
  token: 'The token is wrong',
  socket: 'The socket cannot be used',
  cannot_start: 'The worker runtime cannot start',
  wrong_project: 'The backend at that address serves another project',
  unwritable: 'The folder is not writable',
  database: 'The database cannot be used; the message gives the reason',
  'newer database': 'A newer Drover made the database',
  sandbox: 'The sandbox is required and does not work',
  model: 'The planning model failed',
  forge: 'The forge cannot be read, or the remote names none',
  sign_in: 'The forge needs a token, or does not accept it',
  platform: 'Not supported on this operating system',
};

const start = '<!-- kinds: written by `npm run docs` -->';
const end = '<!-- end of kinds -->';

function rows(): string {
  const lines = Object.entries(meanings).map(([kind, meaning]) => `\`${kind}\` | ${meaning}`);
  return ['Kind | Means', '---|---', ...lines].join('\n');
}

/** The page with its table generated from the code. */
export function withRefusals(page: string): string {
  const before = page.slice(0, page.indexOf(start) + start.length);
  const after = page.slice(page.indexOf(end));
  const failures = failureKinds.map((kind) => `\`${kind}\``).join(', ');
  return `${before}\n\n${rows()}\n\nIf a run cannot start, the kind can also be a kind of failed attempts:\n${failures}.\n\n${after}`;
}
