// The wire to a backend, for those that load it only once there is one.

export { connectSocket } from '../rpc/transport/client.ts';
export { ConnectFailure } from '../rpc/transport/errors.ts';
