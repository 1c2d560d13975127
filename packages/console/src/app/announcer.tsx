import { useEffect, useState } from 'preact/hooks'

export interface Announcer {
  readonly say: (text: string) => void
  readonly listen: (listener: (text: string) => void) => () => void
}

export function createAnnouncer(): Announcer {
  const listeners = new Set<(text: string) => void>()
  return {
    say: (text) => {
      for (const listener of listeners) listener(text)
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** The live region from which screen readers read announcements. */
export function Announcer({ announcer }: { readonly announcer: Announcer }) {
  const [{ text, count }, setSaid] = useState({ text: '', count: 0 })
  useEffect(() => announcer.listen((next) => setSaid((before) => ({ text: next, count: before.count + 1 }))), [announcer])
  // Each text gets a new element, so that screen readers also read a repeated text.
  return (
    <div class="visually-hidden" role="status" aria-live="polite" data-announcements>
      <span key={count}>{text}</span>
    </div>
  )
}
