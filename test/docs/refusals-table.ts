// The page of refusals: what each kind means. A kind without a meaning does not compile.

import { failureKinds, type FailureKind, type RefusalKind } from '../../server/core/failure.ts';

type OwnKind = Exclude<RefusalKind, FailureKind>;

const meanings: { readonly [K in OwnKind]: string } = {
  bad_request:
    'A parameter is missing, too long, out of its bounds, or empty where words are needed',
  bad_value: 'The value of a field is none that it can have',
  bad_title: 'The title is empty, too long, or begins like the id of a sub-task',
  bad_choice: 'The question has other choices',
  bad_configuration: 'A setting, its file, a flag or a variable cannot be used',
  bad_import: 'The file to import has errors; none of it was added',
  bad_plan: 'The model returned no usable plan',
  bad_land: '`--land epic` and `--land review` need an epic',
  bad_target: 'The target is no name of a branch, or a branch that Drover uses itself',
  bad_address: 'The address to listen on cannot be used',
  bad_state: 'The task is in a state in which the field cannot change',
  too_long: 'An agent sent a text that is longer than its limit',
  too_many: 'An agent asked for more than its limit',
  depth: 'Sub-tasks go two levels deep',
  cycle: 'The task would wait for itself',
  file: 'A file cannot be read or written, or is not what is expected',
  id_taken: 'The sub-task of that number exists already',
  needs_answer: 'A question needs a terminal, or `--yes`',
  not_confirmed: 'The answer was not the word that confirms',
  declined: 'The answer was no',
  unknown_id: 'No task, epic, run, question, attempt or log of that id',
  unknown_branch: 'No branch of that name',
  unknown_ref: 'No commit of that name',
  not_found: 'The folder holds no sqlforge project',
  no_attempt: 'The program was not started by a running attempt',
  no_change: 'There is no commit to show',
  no_commit: 'The repository has no commit',
  no_fleet: 'No database of a fleet is configured',
  no_project: 'The folder is in no Drover project',
  no_prompt: 'No agent has had the task',
  no_provisioner: 'No provisioner of remote workers is configured',
  no_token: 'The worker runtime has no token',
  no_worktree: 'The task has no worktree',
  not_a_repository: 'The folder is in no git repository',
  output_gone: 'The log is no longer kept',
  illegal: 'The state does not allow it; the message names the state and what to do',
  epic_open: 'The epic has open tasks',
  run_differs: 'A run is active with another target or way to land',
  elsewhere: 'Another machine of the fleet has the worktree',
  reset: 'None of the tasks could be reset',
  not_undone: 'The undo did not land',
  not_destroyed: 'The remote worker was not destroyed',
  slow: 'The change is noted, but was not done in time',
  attempt_over: 'The attempt of the agent that asks is over',
  not_yours: 'The task is none that the agent may see',
  not_for_agents: 'The request is not for agents',
  branch_in_the_way: 'A branch stands where Drover makes its own',
  git: 'Git refused; the message has its words',
  detached_head: 'No branch is checked out, and no target is given',
  locked: 'Another program holds a lock of git',
  stale: 'A ref moved at the same time',
  pruned: 'Git removed objects that were just written',
  disk_full: 'The disk is full',
  foreign: 'The folder belongs to something else',
  refused: 'The shared remote refused the push, or the reason is one of another version',
  failed: 'Git failed for another reason',
  backend: 'The backend is not running, or did not start',
  already_running: 'A backend of the project or the fleet runs',
  worker_running: 'A worker runs on this machine',
  busy: 'Too much at once; the message says what to wait for',
  closed: 'The connection is closed',
  greeting: 'The first request of a connection is `hello`, once',
  token: 'The token is not the right one',
  socket: 'The socket cannot be used',
  cannot_start: 'The worker runtime cannot start',
  wrong_project: 'The backend at that address serves another project',
  unwritable: 'The folder is not writable',
  database: 'The database cannot be used; the message says why',
  'newer database': 'A newer Drover made the database',
  sandbox: 'The sandbox is required and does not hold',
  model: 'The model that plans failed',
  platform: 'Not on this operating system',
};

const start = '<!-- kinds: written by `npm run docs` -->';
const end = '<!-- end of kinds -->';

function rows(): string {
  const lines = Object.entries(meanings).map(([kind, meaning]) => `\`${kind}\` | ${meaning}`);
  return ['Kind | Means', '---|---', ...lines].join('\n');
}

/** The page with its table as the code has it. */
export function withRefusals(page: string): string {
  const before = page.slice(0, page.indexOf(start) + start.length);
  const after = page.slice(page.indexOf(end));
  const failures = failureKinds.map((kind) => `\`${kind}\``).join(', ');
  return `${before}\n\n${rows()}\n\nA run that cannot begin may also have a kind of failed attempts:\n${failures}.\n\n${after}`;
}
