import type { LiveDocument, Relay } from '@docrelay/client'
import type { Route } from './route.ts'

/** Who is signed in, and in which workspace. */
export interface Person {
  readonly sub: string
  readonly name: string
  readonly workspace: string
  /** As `#8250df`; the colour of this person's cursor, the same in every tab. */
  readonly color: string
}

/** What every view gets of a session. */
export interface Session {
  readonly relay: Relay
  readonly person: Person
  /** The address of the relay's MCP endpoint, or `null` when it is off. */
  readonly mcpUrl: string | null
  /** The clock of the page: ms since 1970. */
  readonly now: () => number
  readonly go: (route: Route) => void
  /** Says something once to who listens to the page instead of looking at it. */
  readonly announce: (text: string) => void
}

/** What a view of one page of an open document gets. The content is here: `document.ready` has resolved. */
export interface PageViewProps {
  readonly session: Session
  readonly document: LiveDocument
  readonly pageId: string
}

/** What a panel beside the open document gets. */
export interface PanelProps {
  readonly session: Session
  readonly document: LiveDocument
}
