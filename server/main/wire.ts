// The connection to a backend, in a separate module that is loaded only if one is running.

export { connectSocket } from '../rpc/transport/client.ts';
export { ConnectFailure } from '../rpc/transport/errors.ts';
