package proc

import ()
