// Drover's own files in the workspace of a remote job, shared by the agent there and the reader of
// its result.

/** Never brought back into the worktree. */
export const jobFolder = '.drover-job';

/** Below the folder: the agent's prompt, which is its standard input too. */
export const jobPrompt = 'prompt';
