/** The pages in a browser, in one file so that they share it: starting one takes longer than most tests. */
import * as Agents from "./pages/Agents.ts"
import * as Asked from "./pages/Asked.ts"
import * as Bulk from "./pages/Bulk.ts"
import * as Call from "./pages/Call.ts"
import * as Damaged from "./pages/Damaged.ts"
import * as Diff from "./pages/Diff.ts"
import * as Docs from "./pages/Docs.ts"
import * as Every from "./pages/Every.ts"
import * as Failures from "./pages/Failures.ts"
import * as First from "./pages/First.ts"
import * as Help from "./pages/Help.ts"
import * as Instructions from "./pages/Instructions.ts"
import * as Lists from "./pages/Lists.ts"
import * as Others from "./pages/Others.ts"
import * as Palette from "./pages/Palette.ts"
import * as Questions from "./pages/Questions.ts"
import * as Search from "./pages/Search.ts"
import * as Session from "./pages/Session.ts"
import * as Sessions from "./pages/Sessions.ts"
import * as Sorting from "./pages/Sorting.ts"
import * as Steps from "./pages/Steps.ts"
import * as Texts from "./pages/Texts.ts"
import * as Threads from "./pages/Threads.ts"
import * as Unanswered from "./pages/Unanswered.ts"
import { useWorld } from "./pages/World.ts"

const world = useWorld()

for (const { define } of [
  Every,
  Sessions,
  Instructions,
  Lists,
  Sorting,
  Session,
  Steps,
  Texts,
  Threads,
  Bulk,
  Call,
  Diff,
  Agents,
  Search,
  Palette,
  Others,
  Unanswered,
  Failures,
  Damaged,
  Questions,
  Asked,
  First,
  Docs,
  Help
])
  define(world)
