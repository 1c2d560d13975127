import './app/app.css'
import { render } from 'preact'
import { App } from './app/app.tsx'

const root = document.getElementById('app')
const page = {
  now: () => Date.now(),
  after: (ms: number, run: () => void) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  storage: sessionStorage,
  location,
  history,
  fetch: (...call: Parameters<typeof fetch>) => fetch(...call),
}
if (root !== null) render(<App page={page} />, root)
