import { createRelay } from '@docrelay/client'
import { indexedDb } from '@docrelay/client/indexeddb'
import type { Session } from '../app/views.ts'
import type { ConsoleConfig } from './config.ts'
import type { SignIn } from './sign-in.ts'
import { personOf } from './token-claims.ts'

/** Makes the session of the signed-in person, through which every view reaches the relay. */
export function openSession(
  signIn: SignIn,
  {
    config,
    relayUrl,
    workspace,
    ...page
  }: Pick<Session, 'go' | 'announce' | 'now'> & {
    readonly config: ConsoleConfig
    readonly relayUrl: string
    readonly workspace: string
  },
): Session | null {
  const { claims } = signIn
  if (claims === null) return null
  const relay = createRelay({
    url: relayUrl,
    token: (request) => signIn.accessToken(request),
    userId: claims.token.sub,
    persist: indexedDb(),
    // The workspace is named even when the token names only one, so that copies on the device are found again when it names two. It is empty when
    // the token names its workspace in another way.
    ...(workspace !== '' && { workspace }),
  })
  return { relay, person: personOf(claims.token, claims.idName, workspace), mcpUrl: config.mcpUrl, ...page }
}
