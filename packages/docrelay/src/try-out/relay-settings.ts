import type { Ports } from './relay-process.ts'

/** The settings that the relay of a try-out gets besides its configuration file. */
export interface TryOutSettings {
  readonly ports: Ports
  readonly dataDir: string
  readonly audience: string
  readonly issuer: { readonly url: string; readonly jwksUrl: string }
  /** The resource for which MCP clients request a token. */
  readonly mcpUrl: string
  readonly console: { readonly clientId: string; readonly dir: string }
}

/**
 * Returns the environment of the relay: settings that the try-out requires, and settings that only make it more convenient. The latter are left
 * out when the caller sets the variable, or when the configuration file has the key or the section.
 */
export function relayEnvironment(env: NodeJS.ProcessEnv, configText: string, settings: TryOutSettings): NodeJS.ProcessEnv {
  const { ports, issuer, console } = settings
  const unless = (word: string, variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv =>
    configText.includes(word)
      ? {}
      : Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, env[name] ?? value]))
  return {
    ...env,
    RELAY_HOST: env['RELAY_HOST'] ?? '127.0.0.1',
    RELAY_PORT: String(ports.relay.port),
    RELAY_MCP_PORT: String(ports.mcp.port),
    RELAY_DATA_DIR: settings.dataDir,
    RELAY_JWT_ISSUER: issuer.url,
    RELAY_JWT_JWKS_URL: issuer.jwksUrl,
    RELAY_JWT_AUDIENCE: settings.audience,
    RELAY_JWT_RESOURCE: settings.mcpUrl,
    RELAY_REVOCATION_BEARER: env['RELAY_REVOCATION_BEARER'] ?? 'dev-revocation-secret',
    RELAY_LOG_LEVEL: env['RELAY_LOG_LEVEL'] ?? 'warn',
    // Documents that agents with the static token write are shared, so that the people can open them. [AG-89]
    ...unless('static_token_share', { RELAY_MCP_STATIC_TOKEN_SHARE: 'edit' }),
    // The limit protects a shared relay; one person with many tabs should not reach it.
    ...unless('max_ws_connections_per_workspace', { RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '200' }),
    ...unless('[console]', {
      RELAY_CONSOLE_ENABLED: 'true',
      RELAY_CONSOLE_CLIENT_ID: console.clientId,
      RELAY_CONSOLE_SCOPE: 'openid docs',
      RELAY_CONSOLE_DIR: console.dir,
    }),
  }
}
