import { loadConfig } from '@docrelay/server/config/load'

/** The listeners that the relay of a try-out will open, and the place of its console, by variables and configuration file. */
export interface Listeners {
  readonly mcp: 'off' | 'local' | 'public'
  /** Whether metrics have a listener of their own. */
  readonly metricsAreLocal: boolean
  readonly metricsPort: number
  /** `null` when the configuration file switches the console off. */
  readonly console: { readonly path: string; readonly clientId: string } | null
}

const DEFAULTS: Listeners = { mcp: 'local', metricsAreLocal: true, metricsPort: 9878, console: null }

/**
 * Reads the listeners from the configuration. Returns defaults for a configuration that the relay refuses, because the relay itself then reports
 * the problem.
 */
export function listenersOf(configPath: string, env: NodeJS.ProcessEnv): Listeners {
  // The issuer does not run yet, and its address does not affect the listeners.
  const issuer = { RELAY_JWT_ISSUER: 'http://127.0.0.1', RELAY_JWT_JWKS_URL: 'http://127.0.0.1/jwks' }
  const loaded = loadConfig({ options: {}, env: { ...env, ...issuer }, configPath, cwd: import.meta.dirname })
  if (loaded.kind === 'refused') return DEFAULTS
  const { mcp, metrics, console } = loaded.config
  return {
    mcp: mcp.enabled ? mcp.expose : 'off',
    metricsAreLocal: metrics.expose === 'local',
    metricsPort: metrics.port,
    console: console.enabled ? { path: console.path, clientId: console.clientId ?? '' } : null,
  }
}
