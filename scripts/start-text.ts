import { isAbsolute, join, relative } from 'node:path'
import { RelayError } from '../packages/client/src/errors.ts'

/** What `npm start` prints once everything runs. */
export interface Started {
  readonly baseUrl: string
  /** `null`: the MCP endpoint is off. */
  readonly mcpUrl: string | null
  readonly issuerUrl: string
  /** The folder of the state, relative to the repository when it is inside. */
  readonly state: string
  /** What DOCRELAY_DEV_DIR must be in another terminal; `null` when it is not needed. */
  readonly stateVariable: string | null
  /** The file that contains the token for the MCP endpoint. */
  readonly mcpTokenFile: string
  /** The people who have a token. */
  readonly people: readonly { readonly id: string; readonly role: string }[]
}

/** What `npm start` prints when its relay has ended unexpectedly. `signal`: the signal that ended it. */
export function endedText(code: number | null, signal: string | null): string {
  if (signal === null) return `The relay ended with code ${code}; its log above says why.`
  return `The relay was ended by the signal ${signal}, which came from outside; \`npm start\` starts it again with everything it had acknowledged.`
}

/**
 * What the example prints when it failed. The message of `fetch` alone does not say why.
 *
 * @param state the folder whose tokens were used
 */
export function failureText(error: unknown, baseUrl: string, state: string): string {
  const { message } = error instanceof Error ? error : { message: String(error) }
  if (error instanceof RelayError && error.status === 401)
    return `The relay at ${baseUrl} refuses the tokens in ${state}: it belongs to another \`npm start\`. Set DOCRELAY_DEV_DIR to the folder that it printed as State, then run this again.`
  if (!/\b(?:fetch failed|Failed to fetch)/.test(message)) return message
  return `The relay at ${baseUrl} does not answer: it has ended or was stopped. Start it with \`npm start\` in another terminal, then run this again.`
}

/** A path for display: relative to the repository when it is inside, absolute otherwise. */
export function shownPath(root: string, path: string): string {
  const inside = relative(root, path)
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside
}

export function startText({ baseUrl, mcpUrl, issuerUrl, state, stateVariable, mcpTokenFile, people }: Started): string {
  const withState = stateVariable === null ? '' : `DOCRELAY_DEV_DIR='${stateVariable}' `
  const token = join(state, 'tokens', people[0]?.id ?? '')
  const bearer = (file: string): string => `"Authorization: Bearer $(cat '${file}')"`
  const whose = people.map(({ id, role }) => `${id} (${role})`).join(', ')
  return `
Docrelay is running.

  REST       ${baseUrl}/api   described at ${baseUrl}/api/v1/openapi.json
  WebSocket  ${baseUrl.replace('http', 'ws')}/ws
  MCP        ${mcpUrl ?? 'off'}
  Issuer     ${issuerUrl}   for development only
  Tokens     ${join(state, 'tokens')}   a file each for ${whose}
  State      ${state}   kept between starts

Try first, in another terminal:

  ${withState}npm run example   # two editors and an agent write into one document
  curl -s -H ${bearer(token)} ${baseUrl}/api/docs
${mcpUrl === null ? '' : agentLines(mcpUrl, bearer(mcpTokenFile), join(state, 'mcp.json'))}
Ctrl-C stops the relay and the issuer.`
}

function agentLines(mcpUrl: string, bearer: string, clientFile: string): string {
  return `  claude mcp add --transport http docrelay ${mcpUrl} --header ${bearer}
  # The entry for other agents is in ${clientFile}; docs/agents-guide.md tells more.
`
}
