import * as ShortRun from "../ShortRun.ts"

ShortRun.define("postgres")
