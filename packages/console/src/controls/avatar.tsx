import { Icon } from './icon.tsx'
import { initialsOf, lettersOn } from './letters.ts'

/** A person or an agent as a small disc in the colour of their cursor, with letters in black or white, whichever has more contrast. */
export function Avatar({
  name,
  color,
  agent = false,
}: {
  readonly name: string
  readonly color: string
  readonly agent?: boolean
}) {
  const known = /^#[0-9a-f]{6}$/i.test(color) ? color : '#57606a'
  return (
    <span class="avatar" aria-hidden="true" style={{ backgroundColor: known, color: lettersOn(known) }}>
      {agent ? <Icon name="agent" /> : initialsOf(name)}
    </span>
  )
}
