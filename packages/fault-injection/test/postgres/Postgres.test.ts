import * as ShortRun from "../ShortRun.ts"

ShortRun.define("postgres", 5)
