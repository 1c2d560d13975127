/** What the relay tells the page in `config.json`. */
export interface ConsoleConfig {
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
  /** Further parameters of the authorization request, for example `audience`. */
  readonly authorizeParams: Readonly<Record<string, string>>
  readonly mcpUrl: string | null
  readonly version: string
}

/** Reads the configuration; rejects when the relay does not answer with one. */
export async function loadConfig(get: typeof fetch): Promise<ConsoleConfig> {
  const answer = await get('./config.json')
  if (!answer.ok) throw new Error(`config.json: ${answer.status}`)
  return (await answer.json()) as ConsoleConfig
}

/** Whether a URL names this machine. Only there may the page choose who signs in, and talk to an issuer without TLS. */
export function isLoopback(url: string): boolean {
  const host = new URL(url).hostname
  return host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}
