// Files of Drover in the workspace of a remote job, used by the agent there and when its result is
// read.

/** Never copied back to the worktree. */
export const jobFolder = '.drover-job';

/** Inside the folder: the agent's prompt, which is also its standard input. */
export const jobPrompt = 'prompt';
