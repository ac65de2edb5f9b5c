// How a command on this agent's host reaches this agent. The agent tells its paths to clients of its host only.
import type { Overview } from './api';
import { shell } from './words';

const USUAL_SOCKET = '/run/elector/agent.sock', USUAL_CONFIG = '/etc/elector/elector.conf';

export function urlOption({ socket }: Overview): string {
  return socket && socket !== USUAL_SOCKET ? ` --url ${shell(`unix:${socket}`)}` : '';
}

/** With the configuration, doctor also checks what only this host can. Without one it can ask at the socket. */
export function doctorCommand(overview: Overview): string {
  const { config } = overview;
  if (!config) return `elector doctor${urlOption(overview)}`;
  return config === USUAL_CONFIG ? 'elector doctor' : `elector doctor --config ${shell(config)}`;
}
