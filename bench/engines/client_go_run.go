// A command under client-go's leader election, as its example has it: client_go_run KUBECONFIG DURATION NAMESPACE NAME COMMAND...
// The times are in the proportions of its defaults, 15 s, 10 s and 2 s. test/interop/build_kubernetes.sh builds it in Kubernetes' tree.
package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		panic(err)
	}
	seconds, _ := strconv.Atoi(os.Args[2])
	duration := time.Duration(seconds) * time.Second
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() { <-ended; cancel() }()
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: os.Args[4], Namespace: os.Args[3]},
		Client:     clientset.NewForConfigOrDie(config).CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: strconv.Itoa(os.Getpid())},
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, ReleaseOnCancel: true, LeaseDuration: duration, RenewDeadline: duration * 10 / 15, RetryPeriod: duration * 2 / 15,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) {
				command := exec.CommandContext(ctx, os.Args[5], os.Args[6:]...)
				_ = command.Run()
				cancel()
			},
			OnStoppedLeading: func() { os.Exit(0) },
		},
	})
}
