import type { LiveDocument, Relay } from '@docrelay/client'
import type { Route } from './route.ts'

/** The person who is signed in, and the person's workspace. */
export interface Person {
  readonly sub: string
  readonly name: string
  readonly workspace: string
  /** The colour of this person's cursor, for example `#8250df`; the same in every tab. */
  readonly color: string
}

/** The parts of a session that every view gets. */
export interface Session {
  readonly relay: Relay
  readonly person: Person
  /** The address of the relay's MCP endpoint, or `null` when it is off. */
  readonly mcpUrl: string | null
  /** The clock of the page: ms since 1970. */
  readonly now: () => number
  readonly go: (route: Route) => void
  /** Lets screen readers read a text once. */
  readonly announce: (text: string) => void
}

/** The input of a view of one page of an open document. The content is loaded: `document.ready` has resolved. */
export interface PageViewProps {
  readonly session: Session
  readonly document: LiveDocument
  readonly pageId: string
}

/** The input of a panel beside the open document. */
export interface PanelProps {
  readonly session: Session
  readonly document: LiveDocument
}
