import type { LiveDocument } from '@docrelay/client'
import { useEffect, useRef } from 'preact/hooks'
import type { Session } from '../app/views.ts'
import { Avatar } from '../controls/avatar.tsx'
import { messages } from '../messages.en.ts'
import { shownOf } from '../prose/shown-page.ts'
import type { PageEntry } from './document-pages.ts'
import type { Present } from './present.ts'

const SHOWN = 4

/** The other people and agents in the document, as discs. A person can be followed. */
export function PeopleBar({
  session,
  live,
  present,
  pages,
}: {
  readonly session: Session
  readonly live: LiveDocument
  readonly present: readonly Present[]
  readonly pages: readonly PageEntry[]
}) {
  const { followed } = shownOf(live)
  const text = messages.document
  useComings(session, present)
  return (
    <ul class="people-bar" aria-label={text.people}>
      {present.slice(0, SHOWN).map((one) => {
        const page = pages.find(({ id }) => id === one.page)
        const words = [one.name, one.agent ? text.agent : '', page === undefined ? '' : text.onPage(page.name)]
        return (
          <li key={one.key}>
            <button
              type="button"
              class="people-one"
              aria-pressed={followed.value === one.clientId}
              aria-label={text.follow(one.name)}
              title={words.filter((word) => word !== '').join(', ')}
              onClick={() => {
                followed.value = followed.value === one.clientId ? null : one.clientId
              }}
            >
              <Avatar name={one.name} color={one.color} agent={one.agent} />
            </button>
          </li>
        )
      })}
      {present.length > SHOWN && <li class="people-more">+{present.length - SHOWN}</li>}
    </ul>
  )
}

/** Announces who joins and who leaves, but not who was there before. */
function useComings(session: Session, present: readonly Present[]): void {
  const before = useRef<readonly Present[] | null>(null)
  useEffect(() => {
    const former = before.current
    before.current = present
    if (former === null) return
    const namesOf = (all: readonly Present[], without: readonly Present[]): string =>
      all
        .filter(({ key }) => !without.some((one) => one.key === key))
        .map(({ name }) => name)
        .join(', ')
    const came = namesOf(present, former)
    const left = namesOf(former, present)
    if (came !== '') session.announce(messages.document.came(came))
    if (left !== '') session.announce(messages.document.left(left))
  }, [present])
}
