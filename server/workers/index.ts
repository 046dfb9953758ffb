// The execution client of the worker contract and the worker runtime come with remote workers; nothing is here yet.

export {};
