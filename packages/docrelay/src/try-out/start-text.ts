import { isAbsolute, join, relative } from 'node:path'
import { RelayError } from '@docrelay/client/errors'

/** The values that a try-out prints when everything runs. */
export interface Started {
  readonly baseUrl: string
  /** The start address of each person in the browser; empty when the console is off. */
  readonly links: readonly { readonly name: string; readonly url: string }[]
  /** `null`: the MCP endpoint is off. */
  readonly mcpUrl: string | null
  /** Whether the scripted agent runs. */
  readonly hasAgent: boolean
  readonly issuerUrl: string
  /** The state folder: relative to the working directory of the caller when it is inside, absolute otherwise. */
  readonly state: string
  /** The command that runs the example, without the variable for the state folder; `null` when there is none. */
  readonly example: string | null
  /** The value that DOCRELAY_DEV_DIR needs in another terminal; `null` when the variable is not needed. */
  readonly stateVariable: string | null
  /** The file that contains the token for the MCP endpoint. */
  readonly mcpTokenFile: string
  /** The people who have a token. */
  readonly people: readonly { readonly id: string; readonly role: string }[]
}

/**
 * Returns the text for a relay that has ended unexpectedly.
 *
 * @param signal the signal that ended it
 * @param command starts the try-out again
 */
export function endedText(code: number | null, signal: string | null, command: string): string {
  if (signal === null) return `The relay ended with code ${code}; its log above says why.`
  return `The relay was ended by the signal ${signal}, which came from outside; \`${command}\` starts it again with everything it had acknowledged.`
}

/**
 * Returns the text for a failed example. The message of `fetch` alone does not give a reason.
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

/** Returns a path for display: relative to a folder when it is inside, absolute otherwise. */
export function shownPath(folder: string, path: string): string {
  const inside = relative(folder, path)
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside
}

export function startText(started: Started): string {
  const { baseUrl, mcpUrl, issuerUrl, state, people } = started
  const whose = people.map(({ id, role }) => `${id} (${role})`).join(', ')
  return `${linkLines(started)}
Docrelay is running.

  REST       ${baseUrl}/api   described at ${baseUrl}/api/v1/openapi.json
  WebSocket  ${baseUrl.replace('http', 'ws')}/ws
  MCP        ${mcpUrl ?? 'off'}
  Issuer     ${issuerUrl}   for development only
  Tokens     ${join(state, 'tokens')}   a file each for ${whose}
  State      ${state}   kept between starts

In another terminal:

${commandLines(started)}
Ctrl-C stops the relay and the issuer.`
}

function linkLines({ links, hasAgent }: Started): string {
  if (links.length === 0) return ''
  const lines = links.map(({ name, url }) => `  ${name.padEnd(4)} ${url}`)
  const agent = hasAgent ? ', and write a line there: @agent list the open points' : ''
  return ['', ...lines, `  Open them in two windows${agent}`, ''].join('\n')
}

function commandLines({ baseUrl, mcpUrl, state, stateVariable, example, mcpTokenFile, people }: Started): string {
  const bearer = (file: string): string => `"Authorization: Bearer $(cat '${file}')"`
  const withState = stateVariable === null ? '' : `DOCRELAY_DEV_DIR='${stateVariable}' `
  const lines = [
    ...(example === null ? [] : [`  ${withState}${example}   # two editors and an agent write into one document`]),
    `  curl -s -H ${bearer(join(state, 'tokens', people[0]?.id ?? ''))} ${baseUrl}/api/docs`,
  ]
  if (mcpUrl !== null) {
    lines.push(
      `  claude mcp add --transport http docrelay ${mcpUrl} --header ${bearer(mcpTokenFile)}`,
      `  # The entry for other agents is in ${join(state, 'mcp.json')}.`,
    )
  }
  return `${lines.join('\n')}\n`
}
