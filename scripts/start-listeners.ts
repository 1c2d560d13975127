import { loadConfig } from '../packages/server/src/config/load.ts'

/** Which of its listeners the relay of `npm start` will open, as variables and configuration file say. */
export interface Listeners {
  readonly mcp: 'off' | 'local' | 'public'
  /** Whether metrics have a listener of their own. */
  readonly metricsAreLocal: boolean
  readonly metricsPort: number
}

const DEFAULTS: Listeners = { mcp: 'local', metricsAreLocal: true, metricsPort: 9878 }

/** Returns the defaults for a configuration that the relay refuses: the relay itself says then what is wrong. */
export function listenersOf(configPath: string, env: NodeJS.ProcessEnv): Listeners {
  // The issuer is not running yet, and its address changes nothing here.
  const issuer = { RELAY_JWT_ISSUER: 'http://127.0.0.1', RELAY_JWT_JWKS_URL: 'http://127.0.0.1/jwks' }
  const loaded = loadConfig({ options: {}, env: { ...env, ...issuer }, configPath, cwd: import.meta.dirname })
  if (loaded.kind === 'refused') return DEFAULTS
  const { mcp, metrics } = loaded.config
  return {
    mcp: mcp.enabled ? mcp.expose : 'off',
    metricsAreLocal: metrics.expose === 'local',
    metricsPort: metrics.port,
  }
}
