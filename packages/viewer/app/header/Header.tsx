/** On top of every page: where to go, the project, the zone of all times, the theme. */
import { useState } from "preact/hooks"
import { Help } from "../keyboard/Help.tsx"
import { useKeys } from "../keyboard/Keys.ts"
import { Palette } from "../palette/Palette.tsx"
import * as Route from "../route/Route.ts"
import { places } from "../route/Places.ts"
import type { Me } from "../server/Types.ts"
import * as Theme from "../settings/Theme.ts"
import { ProjectMenu } from "./ProjectMenu.tsx"
import { ZoneMenu } from "./ZoneMenu.tsx"

interface Props {
  readonly me: Me
}

const themeIcon = { system: "◐", light: "☀", dark: "☾" } as const

export const Header = ({ me }: Props) => {
  const { path } = Route.useRoute()
  const theme = Theme.setting.use()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  useKeys([
    ...places.map(({ key, name, path }) => ({
      keys: `g ${key}`,
      does: `Go to ${name.toLowerCase()}`,
      run: () => Route.go(Route.to([path]))
    })),
    { keys: "Mod+k", does: "Go to anything by name or id", run: () => setPaletteOpen(true) },
    { keys: "?", does: "Show the keys", run: () => setHelpOpen(true) }
  ])
  return (
    <header class="top">
      <a class="brand" href="#/">
        Tachograph
      </a>
      <nav aria-label="Pages">
        {places.map((place) => (
          <a
            key={place.path}
            href={Route.to([place.path])}
            aria-current={(path[0] ?? "sessions") === place.path ? "page" : undefined}
          >
            {place.name}
          </a>
        ))}
      </nav>
      <div class="who">
        <button type="button" class="quiet" onClick={() => setPaletteOpen(true)} title="Go to anything (Ctrl K, ⌘K)">
          Go to…
        </button>
        <ProjectMenu me={me} />
        <ZoneMenu />
        <button
          type="button"
          class="quiet"
          onClick={Theme.cycle}
          aria-label={`Theme: ${theme}`}
          title={`Theme: ${theme}`}
        >
          {themeIcon[theme]}
        </button>
        <button type="button" class="quiet" onClick={() => setHelpOpen(true)} aria-label="Keys" title="Keys (?)">
          ?
        </button>
      </div>
      {isPaletteOpen && <Palette close={() => setPaletteOpen(false)} />}
      {isHelpOpen && <Help close={() => setHelpOpen(false)} />}
    </header>
  )
}
